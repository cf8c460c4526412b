// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How processes pass bytes to one another. Messages from one process to another with one tag arrive
// in the order in which they were sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vranks {

class Messages {
 public:
  // Names a message that is under way, until done() has said that it is not.
  using Ticket = std::int32_t;

  virtual ~Messages() = default;

  // Start a message and return. The bytes stay where they are, untouched, until it is done.
  virtual Ticket send(int process, int tag, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int process, int tag, std::span<std::byte> bytes) = 0;
  // Whether that message is done; then its ticket is used up.
  virtual bool done(Ticket ticket) = 0;
  // Called where nothing can go on before some message is done. Throws if that takes too long or
  // can't be any more, naming the process that is to blame.
  virtual void wait() = 0;
};

}  // namespace vranks
