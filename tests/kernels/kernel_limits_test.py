# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Registers, spills and widths of access of every CUDA kernel in the library, as its build left them
(cmake/kernel_facts.py), against kernel_limits.csv and kernel_widths.csv. Needs no GPU.

    kernel_limits_test.py BUILD_FOLDER                  the test
    kernel_limits_test.py BUILD_FOLDER --table [WORD]   what there is, of kernels or families with WORD
"""

import csv
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCES = FOLDER.parent.parent
sys.path.insert(0, str(SOURCES / "cmake"))
import kernel_facts  # noqa: E402

NO_CUDA = "the library was built without CUDA"
SKIPPED = 77  # tells ctest
MEASURED_ON = "sm_90"
build = None


def rules(name):
    lines = (FOLDER / name).read_text().splitlines()
    return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter=";"))


def rule_of(rule_list, name):
    return next((rule for rule in rule_list if re.fullmatch(rule["kernel"], name)), None)


def program_kinds():
    """Names of ProgramKind, which mangled names have as numbers."""
    text = (SOURCES / "kernels/cuda/program.hpp").read_text()
    body = re.search(r"enum class ProgramKind \{(.*?)\}", text, re.DOTALL)[1]
    return re.findall(r"^\s*(\w+),", body, re.MULTILINE)


def shortened(demangled):
    """`void vranks::cuda::k<vranks::A<int> >(int)` as `k<A<int>>`."""
    name = re.sub(r"^void ", "", demangled).replace("(anonymous namespace)::", "")
    name = re.sub(r"\(vranks::cuda::ProgramKind\)(\d+)", lambda m: program_kinds()[int(m[1])], name)
    name = re.sub(r"\bvranks::|\bcuda::|\barithmetic::", "", name).split("(")[0]
    return re.sub(r"> (?=>)", ">", name)


def built_objects(folder):
    """What nvcc compiled for the library; None without CUDA."""
    cuda, *objects = (Path(folder) / "kernel_objects.txt").read_text().splitlines()
    return objects if cuda == "CUDA ON" else None


def read_facts(objects):
    """The facts of all kernels, with their shortened names."""
    facts = []
    for compiled in objects:
        path = kernel_facts.path_of(compiled)
        if not path.exists():
            raise FileNotFoundError(f"there is no {path}: cmake/kernel_facts.py did not compile that "
                                    "object, or could not read what nvcc wrote; delete the object, "
                                    "build again and read the build's output")
        facts += json.loads(path.read_text())
    names = subprocess.run(["c++filt"], input="\n".join(fact["kernel"] for fact in facts), text=True,
                           capture_output=True, check=True).stdout.splitlines()
    for fact, name in zip(facts, names, strict=True):
        fact["name"] = shortened(name)
    return facts


def where(fact):
    path = Path(fact["file"])
    path = path.relative_to(SOURCES) if path.is_relative_to(SOURCES) else path
    return f"{fact['name']} in {path} ({fact['arch']}, CUDA {fact['toolkit']})"


def too_much(fact, rule):
    """Complaints about registers and spills, which were measured on one architecture."""
    if fact["arch"] != MEASURED_ON:
        return []
    complaints = []
    if fact["registers"] > int(rule["registers"]):
        complaints.append(f"{where(fact)} uses {fact['registers']} registers; '{rule['family']}' "
                          f"may use {rule['registers']}")
    if fact["spill_stores"] + fact["spill_loads"] > int(rule["spilled"]):
        complaints.append(f"{where(fact)} spills {fact['spill_stores']} bytes of stores and "
                          f"{fact['spill_loads']} of loads; '{rule['family']}' may spill "
                          f"{rule['spilled']} together")
    return complaints


def too_narrow(fact, rule):
    """Complaints about how wide memory is accessed."""
    complaints = []
    for column, kinds in (("streamed", ("streamed_loads", "streamed_stores")),
                          ("others", ("loads", "stores"))):
        right = rule[column]
        for kind in kinds:
            widths = fact[kind]
            if right == "any" or list(widths) == ([] if right == "none" else [right]):
                continue
            found = ", ".join(f"{n} of {w} bytes" for w, n in widths.items()) or "none"
            told = "there is to be none" if right == "none" else f"all are to be of {right} bytes"
            complaints.append(f"{where(fact)} has {kind.replace('_', ' ')}: {found}; "
                              f"'{rule['family']}': {told}")
    return complaints


def complaints_of(facts, rule_list, look):
    """What rules complain of, kernels that no rule knows, and rules that know no kernel."""
    complaints, used = [], set()
    for fact in facts:
        rule = rule_of(rule_list, fact["name"])
        if rule is None:
            complaints.append(f"{where(fact)} is of no family: add a row")
            continue
        used.add(rule["family"])
        complaints += look(fact, rule)
    complaints += [f"no kernel is of the family '{rule['family']}' ({rule['kernel']}): mend its "
                   "pattern or remove it" for rule in rule_list if rule["family"] not in used]
    return complaints


def table(facts, word):
    limits = rules("kernel_limits.csv")
    lines = []
    for fact in facts:
        rule = rule_of(limits, fact["name"]) or {"family": "(none)", "registers": "", "spilled": ""}
        if word in fact["name"] or word in rule["family"]:
            widths = (" ".join(f"{n}x{w}" for w, n in sorted(fact[kind].items(), key=lambda i: int(i[0])))
                      or "-" for kind in ("streamed_loads", "streamed_stores", "loads", "stores"))
            lines.append((rule["family"], fact["arch"], f"{fact['registers']}/{rule['registers']}",
                          f"{fact['spill_stores']}+{fact['spill_loads']}/{rule['spilled']}", *widths,
                          fact["name"]))
    lines.sort()
    lines.insert(0, ("family", "arch", "registers/limit", "spilled/limit", "streamed loads",
                     "streamed stores", "loads", "stores", "kernel"))
    columns = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, columns)).rstrip())


class LibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.objects = built_objects(build)
        if cls.objects is None:
            raise unittest.SkipTest(NO_CUDA)
        cls.facts = read_facts(cls.objects)

    def check(self, file, look):
        complaints = complaints_of(self.facts, rules(file), look)
        if complaints:
            self.fail("\n".join([f"by tests/kernels/{file}:", *complaints]))

    def test_registers_and_spills(self):
        self.check("kernel_limits.csv", too_much)

    def test_widths(self):
        self.check("kernel_widths.csv", too_narrow)

    def test_every_file_has_been_read(self):
        read = {Path(compiled).stem for compiled in self.objects}
        self.assertEqual(read, {path.name for path in (SOURCES / "kernels").rglob("*.cu")})


# As nvcc 13.0 writes it, but for names and numbers.
PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z3sumPf' for 'sm_90'
ptxas info    : Function properties for _Z3sumPf
    32 bytes stack frame, 52 bytes spill stores, 60 bytes spill loads
ptxas info    : Used 128 registers, used 0 barriers, 32 bytes cumulative stack size
ptxas info    : Compile time = 13.725 ms
ptxas info    : Function properties for _Z4rarePf
    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Compiling entry function '_Z4copyPf' for 'sm_90'
ptxas info    : Function properties for _Z4copyPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 34 registers, used 0 barriers
"""
PTX = """\
// Cuda compilation tools, release 13.0, V13.0.88
.target sm_90
.func  (.param .b32 func_retval0) _Z4rarePf
{
\tld.f32 \t%f1, [%rd1];
}
.visible .entry _Z3sumPf(
\t.param .align 8 .b8 _Z3sumPf_param_0[8]
)
{
\tld.param.u64 \t%rd1, [_Z3sumPf_param_0];
\tld.global.cs.v4.u32 \t{%r1, %r2, %r3, %r4}, [%rd1];
\t@%p1 ld.global.cs.v4.u32 \t{%r1, %r2, %r3, %r4}, [%rd1+16];
\tld.global.nc.L1::evict_last.u16 \t%rs1, [%rd1];
\tst.local.u32 \t[%rd2], %r1;
\tst.global.cs.v2.b64 \t[%rd1], {%rd1, %rd2};
\tst.u8 \t[%rd1], %r1;
}
.visible .entry _Z4copyPf(
)
{
\tst.global.v2.f32 \t[%rd1], {%f1, %f2};
}
"""
OLDER = PTX.replace("sm_90", "sm_80").replace("cs.v4.u32", "cs.u32")


class FactsTest(unittest.TestCase):
    def facts(self, *texts):
        facts = kernel_facts.join("k.cu", kernel_facts.ptxas_facts(PTXAS), texts or [PTX])
        for fact, name in zip(facts, ("sum<float>", "copy<float>"), strict=True):
            fact["name"] = name
        return facts

    def complaints(self, row, look, columns):
        rule_list = [dict(zip(("family", "kernel", *columns), values.split(";"))) for values in row]
        return complaints_of(self.facts(), rule_list, look)

    def limits(self, *rows):
        return self.complaints(rows, too_much, ("registers", "spilled"))

    def widths(self, *rows):
        return self.complaints(rows, too_narrow, ("streamed", "others"))

    def test_ptxas_and_ptx(self):
        self.assertEqual(self.facts(), [
            {"name": "sum<float>", "kernel": "_Z3sumPf", "file": "k.cu", "toolkit": "13.0",
             "arch": "sm_90", "registers": 128, "stack": 32, "spill_stores": 56, "spill_loads": 68,
             "loads": {"2": 1}, "stores": {"1": 1}, "streamed_loads": {"16": 2},
             "streamed_stores": {"16": 1}},
            {"name": "copy<float>", "kernel": "_Z4copyPf", "file": "k.cu", "toolkit": "13.0",
             "arch": "sm_90", "registers": 34, "stack": 0, "spill_stores": 0, "spill_loads": 0,
             "loads": {}, "stores": {"8": 1}, "streamed_loads": {}, "streamed_stores": {}}])

    def test_newest_ptx_up_to_the_architecture(self):
        self.assertEqual(self.facts(PTX, OLDER)[0]["streamed_loads"], {"16": 2})
        self.assertEqual(self.facts(OLDER)[0]["streamed_loads"], {"4": 2})
        with self.assertRaisesRegex(ValueError, "no PTX does"):
            self.facts(PTX.replace("sm_90", "sm_100"))

    def test_a_kernel_that_spills(self):
        self.assertEqual(self.limits("sum;sum<.*>;128;124", "copy;copy<.*>;34;0"), [])
        self.assertEqual(self.limits("sum;sum<.*>;128;0", "copy;copy<.*>;34;0"), [
            "sum<float> in k.cu (sm_90, CUDA 13.0) spills 56 bytes of stores and 68 of loads; "
            "'sum' may spill 0 together"])

    def test_a_kernel_of_many_registers(self):
        self.assertEqual(self.limits("sum;sum<.*>;127;124", "copy;copy<.*>;34;0"), [
            "sum<float> in k.cu (sm_90, CUDA 13.0) uses 128 registers; 'sum' may use 127"])

    def test_a_kernel_of_no_family_and_a_family_of_no_kernel(self):
        self.assertEqual(self.limits("all;sum<.*>;128;124", "none;cop;34;0"), [
            "copy<float> in k.cu (sm_90, CUDA 13.0) is of no family: add a row",
            "no kernel is of the family 'none' (cop): mend its pattern or remove it"])

    def test_narrow_access(self):
        self.assertEqual(self.widths("sum;sum<.*>;16;any", "copy;copy<.*>;none;any"), [])
        self.assertEqual(self.widths("sum;sum<.*>;8;any", "copy;copy<.*>;none;16"), [
            "sum<float> in k.cu (sm_90, CUDA 13.0) has streamed loads: 2 of 16 bytes; 'sum': all are "
            "to be of 8 bytes",
            "sum<float> in k.cu (sm_90, CUDA 13.0) has streamed stores: 1 of 16 bytes; 'sum': all "
            "are to be of 8 bytes",
            "copy<float> in k.cu (sm_90, CUDA 13.0) has loads: none; 'copy': all are to be of 16 "
            "bytes",
            "copy<float> in k.cu (sm_90, CUDA 13.0) has stores: 1 of 8 bytes; 'copy': all are to be "
            "of 16 bytes"])
        self.assertRegex(self.widths("all;.*;none;any")[0], "streamed loads: 2 .* there is to be none")

    def test_names(self):
        self.assertEqual(
            shortened("void vranks::cuda::program_kernel<vranks::arithmetic::FloatHop<vranks::Half, "
                      "float, false>, (vranks::cuda::ProgramKind)3>(vranks::cuda::KernelProgram)"),
            "program_kernel<FloatHop<Half, float, false>, tree>")
        self.assertEqual(shortened("void vranks::cuda::(anonymous namespace)::k<A<B<int> > >(long)"),
                         "k<A<B<int>>>")


if __name__ == "__main__":
    build = sys.argv[1]
    if "--table" in sys.argv:
        built = built_objects(build)
        sys.exit(NO_CUDA if built is None else table(read_facts(built), " ".join(sys.argv[3:])))
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
