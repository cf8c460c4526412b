// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading and saving .npy files, against files that numpy itself wrote (make_npy.py, in the folder
// that VRANKS_NPY_FOLDER names).
#include "ranks/npy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/ranks/expect_error.hpp"
#include "tests/ranks/temporary_folder.hpp"

namespace vranks {
namespace {

class NumpyFiles : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("VRANKS_NPY_FOLDER");
    if (folder == nullptr)
      GTEST_SKIP() << "VRANKS_NPY_FOLDER is not set to a folder made by tests/ranks/make_npy.py";
    folder_ = folder;
  }

  std::string file(const std::string& name) const { return folder_ + "/" + name + ".npy"; }

  // The dtypes that numpy has, as make_npy.py names their files.
  static std::vector<DTypeInfo> numpy_dtypes() {
    std::vector<DTypeInfo> all;
    for (const DTypeInfo& row : dtypes())
      if (row.dtype != DType::bf16 && !is_float8(row.dtype)) all.push_back(row);
    return all;
  }

  static std::string code(const DTypeInfo& row) { return std::string(row.npy.substr(1)); }

 private:
  std::string folder_;
};

double as_double(double x) { return x; }
double as_double(Half x) { return to_float(x); }
double as_double(BFloat16 x) { return to_float(x); }
double as_double(Float8E4M3 x) { return to_float(x); }
double as_double(Float8E5M2 x) { return to_float(x); }

TEST_F(NumpyFiles, EveryDTypeInEveryVersion) {
  for (const DTypeInfo& row : numpy_dtypes())
    for (const char* version : {"1", "2", "3"}) {
      SCOPED_TRACE(std::string(row.name) + " version " + version);
      const Tensor tensor = load_npy(file(code(row) + "_version" + version));
      ASSERT_EQ(tensor.dtype(), row.dtype);
      ASSERT_EQ(tensor.shape(), (Shape{4, 3, 2}));
      visit(row.dtype, [&]<class T>() {
        for (int i = 0; i < 24; ++i) {
          const int expected = row.kind == DTypeKind::unsigned_integer ? i : i - 12;
          const T x = tensor.as<T>()[i];
          if constexpr (std::is_same_v<T, Bool>) {
            EXPECT_EQ(x.byte, expected == 0 ? 0 : 1);
          } else if constexpr (requires { x.im; }) {
            EXPECT_EQ(x.re, expected);
            EXPECT_EQ(x.im, 2 * expected + 1);
          } else if constexpr (std::is_integral_v<T>)
            EXPECT_EQ(x, static_cast<T>(expected));
          else
            EXPECT_EQ(as_double(x), expected);
        }
      });
    }
}

TEST_F(NumpyFiles, SavingGivesNumpysBytes) {
  const TemporaryFolder folder;
  for (const DTypeInfo& row : numpy_dtypes()) {
    const std::string original = file(code(row) + "_version1");
    save_npy(folder / "x.npy", load_npy(original).view());
    EXPECT_EQ(read_bytes(folder / "x.npy"), read_bytes(original)) << row.name;
  }
}

TEST_F(NumpyFiles, VoidElementsAreBytes) {
  const TemporaryFolder folder;
  const Tensor tensor = load_npy(file("void"));
  EXPECT_EQ(tensor.dtype(), DType::u8);
  EXPECT_EQ(tensor.shape(), (Shape{4, 3, 16}));
  for (int i = 0; i < 192; ++i) EXPECT_EQ(tensor.as<std::uint8_t>()[i], i);
  save_npy(folder / "x.npy", tensor.view(), {}, read_npy_header(file("void")).opaque_bytes);
  EXPECT_EQ(read_bytes(folder / "x.npy"), read_bytes(file("void")));
  EXPECT_EQ(load_npy(file("void"), DType::u8, RankRange{1, 2}).shape(), (Shape{2, 3, 16}));
  expect_error(ErrorKind::bad_argument, {"holds elements of 16 bytes ('|V16')", "not f8e4m3"},
               [&] { load_npy(file("void"), DType::f8e4m3); });
}

TEST_F(NumpyFiles, OtherShapes) {
  EXPECT_EQ(read_npy_header(file("one_dimension")).shape, (Shape{5}));
  EXPECT_EQ(load_npy(file("fortran_vector")).as<std::int32_t>()[4], 4);
  EXPECT_EQ(load_npy(file("empty")).shape(), (Shape{4, 0}));
  EXPECT_EQ(load_npy(file("empty"), {}, RankRange{1, 2}).shape(), (Shape{2, 0}));
  EXPECT_EQ(load_npy(file("no_ranks")).shape(), (Shape{0, 3}));
}

TEST_F(NumpyFiles, RefusalsNameFileAndReason) {
  const auto refuse = [&](const char* name, const char* phrase) {
    expect_error(ErrorKind::not_supported, {file(name).c_str(), phrase},
                 [&] { load_npy(file(name)); });
  };
  refuse("fortran", "numpy.ascontiguousarray(x)");
  refuse("big_endian", "x.astype(x.dtype.newbyteorder('<'))");
  refuse("object", "Python objects");
  refuse("structured", "structured");
  refuse("structured_unicode", "structured");
  refuse("scalar", "shape ()");
  refuse("text", "'<U3'");
  refuse("date", "'<M8[D]'");
}

// Elements whose bytes are 0, 1, 2, ... modulo 251.
Tensor numbered(DType dtype, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.bytes(); ++i)
    tensor.data()[i] = static_cast<std::byte>(i % 251);
  return tensor;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0);
}

RC_GTEST_PROP(Npy, RoundTrip, ()) {
  static const TemporaryFolder folder;
  const auto row = *rc::gen::elementOf(std::vector<DTypeInfo>(dtypes().begin(), dtypes().end()));
  const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
  const auto shape = *rc::gen::container<Shape>(dimensions, rc::gen::inRange<std::int64_t>(0, 8));
  const Tensor saved = numbered(row.dtype, shape);
  save_npy(folder / "x.npy", saved.view());
  RC_ASSERT(same_bits(load_npy(folder / "x.npy", row.dtype), saved));

  const auto first = *rc::gen::inRange<std::int64_t>(0, shape[0] + 1);
  const auto count = *rc::gen::inRange<std::int64_t>(0, shape[0] - first + 1);
  const Tensor part = load_npy(folder / "x.npy", row.dtype, RankRange{first, count});
  RC_ASSERT(part.shape()[0] == count);
  const std::int64_t slice_bytes = shape[0] == 0 ? 0 : saved.bytes() / shape[0];
  RC_ASSERT(part.bytes() == count * slice_bytes);
  RC_ASSERT(
      std::equal(part.data(), part.data() + part.bytes(), saved.data() + first * slice_bytes));
}

TEST(Npy, RawBitsAreWhatTheCallerSays) {
  const TemporaryFolder folder;
  save_npy(folder / "x.npy", numbered(DType::bf16, {2, 3}).view());
  EXPECT_EQ(load_npy(folder / "x.npy").dtype(), DType::u16);
  EXPECT_EQ(load_npy(folder / "x.npy", DType::u16).dtype(), DType::u16);
  EXPECT_TRUE(same_bits(load_npy(folder / "x.npy", DType::bf16), numbered(DType::bf16, {2, 3})));
  expect_error(ErrorKind::bad_argument, {"/x.npy'", "holds u16", "not f16", "never converted"},
               [&] { load_npy(folder / "x.npy", DType::f16); });
  save_npy(folder / "x.npy", numbered(DType::f8e5m2, {2, 3}).view());
  EXPECT_EQ(load_npy(folder / "x.npy").dtype(), DType::u8);
  EXPECT_EQ(load_npy(folder / "x.npy", DType::f8e4m3).dtype(), DType::f8e4m3);
  expect_error(ErrorKind::bad_argument, {"holds u8", "not bool"},
               [&] { load_npy(folder / "x.npy", DType::boolean); });
  save_npy(folder / "x.npy", numbered(DType::f32, {2, 3}).view());
  expect_error(ErrorKind::bad_argument, {"holds f32", "not bf16"},
               [&] { load_npy(folder / "x.npy", DType::bf16); });
}

TEST(Npy, RefusesRanksThatAreNotThere) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  save_npy(path, numbered(DType::f32, {4, 3}).view());
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  for (const RankRange range :
       {RankRange{0, 5}, RankRange{4, 1}, RankRange{-1, 2}, RankRange{1, -1}, RankRange{5, 0},
        RankRange{2, most}, RankRange{most, most}})
    expect_error(ErrorKind::bad_argument, {path.c_str(), "holds 4 ranks"},
                 [&] { load_npy(path, {}, range); });
  EXPECT_EQ(load_npy(path, {}, RankRange{4, 0}).shape(), (Shape{0, 3}));
}

TEST(Npy, ProgressEndsAtTheTotal) {
  const TemporaryFolder folder;
  const Tensor tensor = numbered(DType::u8, {3, 15'000'000});
  std::vector<std::int64_t> done;
  const Progress note = [&](std::int64_t bytes, std::int64_t total) {
    EXPECT_EQ(total, 45'000'000);
    done.push_back(bytes);
  };
  for (const bool saving : {true, false}) {
    done.clear();
    if (saving)
      save_npy(folder / "x.npy", tensor.view(), note);
    else
      EXPECT_TRUE(same_bits(load_npy(folder / "x.npy", {}, {}, note), tensor));
    EXPECT_GT(done.size(), 1u);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(done.back(), 45'000'000);
  }
}

TEST(Npy, AnExceptionOfProgressLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy", "old");
  const auto stop = [](std::int64_t, std::int64_t) { throw std::runtime_error("stop"); };
  EXPECT_THROW(save_npy(folder / "x.npy", numbered(DType::u8, {3}).view(), stop),
               std::runtime_error);
  EXPECT_EQ(read_bytes(folder / "x.npy"), "old");
  EXPECT_EQ(folder.names(), std::set<std::string>{"x.npy"});
}

TEST(Npy, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const Tensor old = numbered(DType::f32, {4, 3});
  save_npy(folder / "x.npy", old.view());
  const Tensor large = numbered(DType::f32, {4, 100'000});
  ::rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const ::rlimit limit = {1'000'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  expect_error(ErrorKind::io, {"/x.npy'", "File too large", "after 1000000 bytes"},
               [&] { save_npy(folder / "x.npy", large.view()); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(same_bits(load_npy(folder / "x.npy"), old));
  EXPECT_EQ(folder.names(), std::set<std::string>{"x.npy"});
}

TEST(Npy, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::io, {"/missing.npy'", "No such file or directory"},
               [&] { load_npy(folder / "missing.npy"); });
  expect_error(ErrorKind::bad_input, {"it is a folder"}, [&] { load_npy(folder / ""); });
  expect_error(ErrorKind::bad_input, {"it is a device"}, [] { load_npy("/dev/zero"); });
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error(ErrorKind::bad_input, {"/pipe'", "it is a pipe"},
               [&] { load_npy(folder / "pipe"); });
}

TEST(Npy, RefusesAHugeClaimBeforeTakingMemory) {
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy",
              make_npy_header(DType::f64, {std::int64_t{1} << 58, 2}) + "12345678");
  expect_error(ErrorKind::bad_input, {"truncated", "needs 4611686018427387904 bytes", "has 8"},
               [&] { load_npy(folder / "x.npy"); });
}

TEST(Npy, SavesOnlyContiguousTensorsOnTheCpu) {
  const TemporaryFolder folder;
  std::vector<float> data(24);
  TensorView tensor = view(data.data(), {4, 3});
  tensor.strides = {6, 1};
  expect_error(ErrorKind::not_supported, {"tensor to save", "contiguous"},
               [&] { save_npy(folder / "x.npy", tensor); });
  tensor.strides = {3, 1};
  save_npy(folder / "x.npy", tensor);
  tensor.device = {DeviceKind::cuda, 1};
  expect_error(ErrorKind::bad_argument, {"/x.npy'", "cuda:1", "copy the tensor to the CPU"},
               [&] { save_npy(folder / "x.npy", tensor); });
  EXPECT_EQ(folder.names(), std::set<std::string>{"x.npy"});
}

TEST(Npy, ASingleNumberCanBeSaved) {
  const TemporaryFolder folder;
  float number = 1;
  save_npy(folder / "x.npy", view(&number, {}));
  EXPECT_NE(read_bytes(folder / "x.npy").find("'shape': (), }"), std::string::npos);
  EXPECT_EQ(read_bytes(folder / "x.npy").size(), 128u + 4u);
}

}  // namespace
}  // namespace vranks
