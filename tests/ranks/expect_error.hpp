// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Expects that a call throws vranks::Error of one kind, with all of some phrases in its message.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "ranks/error.hpp"

namespace vranks {

template <class F>
void expect_error(ErrorKind kind, std::initializer_list<const char*> phrases, F&& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one that says '" << *phrases.begin() << "'";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), kind) << message;
    for (const char* phrase : phrases)
      EXPECT_NE(message.find(phrase), std::string::npos)
          << "expected '" << phrase << "' in: " << message;
  }
}

}  // namespace vranks
