// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/algorithm_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cli/json_option.hpp"
#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

template <auto member>
using MemberType = std::remove_reference_t<decltype(Parameters{}.*member)>;

template <auto member>
void set_text(Parameters& parameters, const std::string&, const std::string& text) {
  parameters.*member = text;
}

template <auto member>
void set_number(Parameters& parameters, const std::string& option, const std::string& text) {
  using Number = MemberType<member>;
  parameters.*member =
      static_cast<Number>(parse_whole(option, text, 0, std::numeric_limits<Number>::max()));
}

void set_protocol(Parameters& parameters, const std::string&, const std::string& text) {
  parameters.protocol = parse_protocol(text);
}

// A list of ranks a channel; trees have one of children a rank.
template <class Lists>
constexpr bool is_ring_list = std::is_integral_v<typename Lists::value_type::value_type>;

template <auto member>
void set_json(Parameters& parameters, const std::string& option, const std::string& text) {
  const JsonOption json{option, JsonNumbers::ranks,
                        is_ring_list<MemberType<member>> ? "[[0,1,2,3]]" : "[[[1,2],[3],[],[]]]"};
  parameters.*member = parse_json_option<MemberType<member>>(json, text);
  // Empty is what no option leaves: the algorithm's own.
  if ((parameters.*member).empty())
    throw Error(ErrorKind::bad_argument, fmt::format("{}: there is none in []", option));
}

struct ParameterReader {
  std::string_view name;
  const char* value_name;
  void (*set)(Parameters&, const std::string& option, const std::string& text);
};
constexpr ParameterReader readers[] = {
    {"protocol", "NAME", set_protocol},
    {"channels", "NUMBER", set_number<&Parameters::channels>},
    {"rings", "JSON", set_json<&Parameters::rings>},
    {"trees", "JSON", set_json<&Parameters::trees>},
    {"nccl-version", "VERSION", set_text<&Parameters::nccl_version>},
    {"ranks-per-node", "NUMBER", set_number<&Parameters::ranks_per_node>},
    {"segment-bytes", "NUMBER", set_number<&Parameters::segment_bytes>},
    {"chunks", "NUMBER", set_number<&Parameters::chunks>},
    {"fanout", "NUMBER", set_number<&Parameters::fanout>},
    {"inner", "NAME", set_text<&Parameters::inner>},
    {"outer", "NAME", set_text<&Parameters::outer>},
    {"reduce-algorithm", "NAME", set_text<&Parameters::reduce_algorithm>},
};

const ParameterReader& reader_of(std::string_view name) {
  const auto found = std::ranges::find(readers, name, &ParameterReader::name);
  if (found == std::end(readers))
    throw Error(ErrorKind::not_supported, fmt::format("--{} has no reader in cli/", name));
  return *found;
}

// The algorithms that read it: "nccl_ring nccl_tree".
std::string readers_text(std::string_view parameter) {
  std::string all;
  for (const Algorithm& algorithm : algorithms())
    if (has_word(algorithm.parameters, parameter))
      (all += all.empty() ? "" : " ") += algorithm.name;
  return all;
}

// "how a mean is made; divide: ...; premultiply: ...; auto: as the algorithm does it".
template <class Policy>
std::string policy_text(std::span<const Policy> policies, std::string_view what) {
  std::string text(what);
  for (const Policy& each : policies) text += fmt::format("; {}: {}", each.name, each.meaning);
  return text + "; auto: as the algorithm does it";
}

}  // namespace

OptionsDescription parameter_options(GivenParameters& parameters) {
  OptionsDescription options("Parameters, of those algorithms that are named", page_columns);
  for (const ParameterInfo& info : parameter_infos()) {
    const std::string algorithms_of = readers_text(info.name);
    if (algorithms_of.empty()) continue;
    const ParameterReader& reader = reader_of(info.name);
    options.add_options()(std::string(info.name).c_str(),
                          boost::program_options::value<std::string>()
                              ->value_name(reader.value_name)
                              ->notifier([&parameters, &reader](const std::string& text) {
                                reader.set(parameters.values, fmt::format("--{}", reader.name),
                                           text);
                                parameters.names.push_back(reader.name);
                              }),
                          fmt::format("{}; {}", info.meaning, algorithms_of).c_str());
  }
  return options;
}

void check_parameters(const Algorithm& algorithm, const GivenParameters& parameters) {
  for (const std::string_view name : parameters.names)
    if (!has_word(algorithm.parameters, name))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("algorithm {} doesn't read --{}; it reads: {}", algorithm.name, name,
                              algorithm.parameters.empty() ? "none" : algorithm.parameters));
}

OptionsDescription nan_option(Policies& policies) {
  OptionsDescription options("Arithmetic", page_columns);
  options.add_options()(
      "nan",
      parsed(policies.nan, parse_or("auto", parse_nan_policy), "POLICY")->default_value("auto"),
      "what min and max of floats make of a NaN; propagate: any gives NaN; ignore: NaN only if "
      "every "
      "rank holds one; auto: as the algorithm does it");
  return options;
}

OptionsDescription policy_options(Policies& policies) {
  OptionsDescription options = nan_option(policies);
  options.add_options()  //
      ("accumulate",
       parsed(policies.accumulate, parse_or("auto", parse_accumulate), "POLICY")
           ->default_value("auto"),
       policy_text(accumulates(), "what partial results are").c_str())  //
      ("mean",
       parsed(policies.mean, parse_or("auto", parse_mean_mode), "POLICY")->default_value("auto"),
       policy_text(mean_modes(), "how a mean is made").c_str())  //
      ("fp8", parsed(policies.fp8, parse_or("auto", parse_fp8_mode), "MODE")->default_value("auto"),
       policy_text(fp8_modes(), "what 8-bit floats make of numbers beyond their range").c_str());
  return options;
}

}  // namespace vranks::cli
