# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Options of `vranks check --against nccl`, and what it says without what it needs."""

import program


class NcclCheck(program.ProgramTest):
    def refuse_check(self, arguments, *phrases):
        self.refuse(["check", "--against", "nccl", *arguments.split()], *phrases)

    def test_help_is_about_nccl(self):
        text = self.succeed("check", "--against", "nccl", "--help")
        for word in ("--nccl-library", "--protocol", "--channels", "--timeout", "nccl_tree",
                     "sum mean prod min max", "f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 u8 i32"):
            self.assertIn(word, text)
        self.assertNotIn("--shape", text)
        self.assertIn("vranks check --against nccl --help", " ".join(
            self.succeed("check", "--help").split()))
        self.succeed("check", "--against=nccl", "--help")

    def test_what_nccl_lacks(self):
        self.refuse_check("--op band", "NCCL has no op band")
        self.refuse_check("--op sum,band", "NCCL has no op band")
        self.refuse_check("--dtype bool", "NCCL has no dtype bool")
        self.refuse_check("--dtype f32,i16", "NCCL has no dtype i16")
        self.refuse_check("--collective scan", "not scan")
        self.refuse_check("--collective all_gather --op sum", "combines nothing")

    def test_what_cannot_be_pinned(self):
        self.refuse_check("--algorithm nccl_pat", "'nccl_pat'", "nccl_ring and nccl_tree")
        self.refuse_check("--algorithm direct", "'direct'", "nccl_ring and nccl_tree")
        self.refuse_check("--algorithm nccl_tree --collective reduce_scatter",
                          "nccl_tree has no reduce_scatter")
        self.refuse_check("--algorithm nccl_ring --collective broadcast",
                          "nccl_ring has no broadcast")
        self.refuse_check("--data special", "needs --algorithm")
        self.refuse_check("--nccl-version 2.30.7", "--algorithm says which")

    def test_bad_values(self):
        self.refuse_check("--ranks 1", "--ranks", "'1'", "from 2 to 32")
        self.refuse_check("--ranks 2,33", "'33'", "from 2 to 32")
        self.refuse_check("--elements -1", "--elements")
        self.refuse_check("--channels 0", "--channels", "from 1 to 32")
        self.refuse_check("--timeout 0", "--timeout", "from 1 to")
        self.refuse_check("--protocol ll64", "'ll64'", "simple ll ll128")
        self.refuse_check("--data odd", "'odd'", "random special")
        self.refuse_check("--op sum,", "there is no op ''")
        self.refuse_check("--root 1", "all_reduce has no root")
        self.refuse_check("--collective reduce --root 3", "with 2 ranks they are 0 to 1")
        self.refuse_check("--device cpu", "on a CUDA device")
        self.refuse_check("--shape 4,5", "--shape")
        self.refuse(["check", "--against", "gloo"], "'gloo'", "mpi nccl")

    def test_no_such_library(self):
        # A build without CUDA says that it needs it.
        self.refuse_check("--nccl-library /no/libnccl.so", "/no/libnccl.so")


if __name__ == "__main__":
    program.main()
