// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules and programs as JSON. Keys stay as they are; what is written is read back as the same
// schedule or program. Both begin with the same keys:
//
//   {"vranks": "schedule",            or "program"
//    "version": 1,
//    "collective": "all_reduce", "ranks": 2, "root": 0, "chunks": 1, "scratch_chunks": 0,
//
// root and scratch_chunks may be left out where they are 0. A permute says besides whose slice each
// rank gets, -1 for none: "sources": [1, -1]. Of the _v forms there are no schedules of their own.
// A schedule goes on with its steps, each a list of transfers: ["copy", dst, a] or ["reduce", dst,
// a, b], which is dst = op(a, b). A chunk is [rank, slot, index], or [rank, slot, index, count];
// slot is "input", "output" or "scratch".
//
//    "steps": [[["reduce", [0, "output", 0], [1, "input", 0], [0, "input", 0]]],
//              [["copy", [1, "output", 0], [0, "output", 0]]]]}
//
// A program goes on with its lanes. send_to, receive_from and channel may be left out: no rank, no
// rank, 0. An instruction is its name, its operands, and the instructions of the same rank that it
// waits for, as a list of [id of the lane, index]; without any, the list may be left out:
//
//    "lanes": [{"rank": 0, "id": 0, "receive_from": 1,
//               "instructions": [["recv_reduce", ["output", 0], "message", ["input", 0]]]},
//              {"rank": 0, "id": 1, "send_to": 1,
//               "instructions": [["send", ["output", 0], [[0, 0]]]]},
//              {"rank": 1, "id": 0, "send_to": 0, "instructions": [["send", ["input", 0]]]},
//              {"rank": 1, "id": 1, "receive_from": 0, "instructions": [["recv", ["output", 0]]]}]}
//
// A chunk of a program is [slot, index] or [slot, index, count]. Operands by instruction:
//
//   send a            recv dst                   recv_copy_send dst     copy dst a    nop
//   reduce dst a b    recv_reduce dst a b        recv_reduce_send a b   recv_reduce_copy_send dst a
//   b
//
// where the result is op(a, b), and "message" stands for a or b where a message is combined.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "collectives/program.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

std::string to_json(const Schedule& schedule);
std::string to_json(const Program& program);

// Throws bad_input with `name` (of the file), the place (line and column, or the path of the value)
// and the reason for any text that isn't exactly the above: unknown, missing and repeated keys,
// numbers that don't fit, nesting deeper than 8, ranks times chunks out of proportion to the length
// of the text (more than a million and 32 for each of its bytes), rules of schedules and programs.
std::variant<Schedule, Program> parse_json(std::string_view text, std::string_view name = "json");

}  // namespace vranks
