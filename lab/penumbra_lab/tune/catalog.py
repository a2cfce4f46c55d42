"""The flags that are worth trying, in groups that act on the same code, and the layers above them.

From GCC's and Clang's manuals, by what they do to a program of many small functions and few loops
such as a database server. A flag that the compiler does not know is left out; so are flags that
-O2 has already on, unless turning them off may pay.
"""

import functools
import re
import shutil
import subprocess

from penumbra_lab.errors import LabError
from penumbra_lab.tune.space import Layer, Parameter, Space

PARAM = "--param="


def _group(name: str, *entries: tuple[str | tuple[str, ...], str]) -> list[Parameter]:
    return [Parameter(name, (choices,) if isinstance(choices, str) else choices, about)
            for choices, about in entries]  # fmt: skip


def _values(flag: str, *values: object) -> tuple[str, ...]:
    return tuple(f"{flag}={value}" for value in values)


INLINING = [
    ("-finline-functions", "inlines functions that are not declared inline, where it seems to pay"),
    ("-fno-inline-functions-called-once", "keeps a function that has one caller apart from it"),
    ("-fno-partial-inlining", "no inlining of a function's short way out alone"),
    ("-fno-inline-small-functions", "no inlining of functions shorter than their call"),
    (_values(PARAM + "max-inline-insns-auto", 5, 30, 60), "longest function inlined undeclared"),
    (_values(PARAM + "max-inline-insns-single", 30, 200, 400), "longest inline function inlined"),
    (_values(PARAM + "early-inlining-insns", 2, 14, 24), "growth that early inlining may cause"),
    (_values(PARAM + "inline-unit-growth", 20, 80), "how much inlining may make a unit grow, in %"),
    (_values(PARAM + "inline-min-speedup", 10, 50), "gain in % from which larger bodies go in"),
    (_values(PARAM + "large-function-growth", 50, 300), "how much a large function may grow, in %"),
]  # fmt: skip

GCC_GROUPS = [
    *_group("inlining", *INLINING),
    *_group(
        "whole program",
        ("-fipa-pta", "points-to analysis across functions"),
        ("-fipa-cp-clone", "copies of functions for arguments that are constants"),
        ("-fno-semantic-interposition", "calls within the program cannot be replaced from outside"),
        ("-fno-ipa-icf", "functions with the same code are not merged"),
        ("-fno-ipa-sra", "arguments stay as they were written"),
        (_values("-flto-partition", "one", "1to1"), "how LTO cuts the program up for compiling"),
        ("-fdevirtualize-at-ltrans", "more known for indirect calls, in each LTO partition"),
        (_values(PARAM + "ipa-cp-eval-threshold", 100, 1000), "gain from which a copy is made"),
    ),
    *_group(
        "layout",
        (_values("-falign-functions", 16, 32, 64), "where functions begin"),
        (_values("-falign-loops", 1, 16, 32), "where loops begin"),
        (_values("-falign-jumps", 1, 16, 32), "where jumps arrive"),
        (_values("-falign-labels", 1, 16), "where labels are"),
        ("-flimit-function-alignment", "no more padding than the function is long"),
        ("-fno-reorder-blocks", "blocks in the order of the source"),
        (_values("-freorder-blocks-algorithm", "simple"), "no code is copied to save a jump"),
        ("-fno-reorder-functions", "cold functions stay among the others"),
    ),
    *_group(
        "branches",
        ("-fno-if-conversion", "no conditional moves in place of branches"),
        ("-fno-if-conversion2", "no conditional moves after register allocation"),
        ("-ftracer", "copies code so that it has one way in"),
        ("-fsplit-paths", "copies the end of a loop for either branch"),
        ("-fno-thread-jumps", "jumps to jumps stay"),
        ("-fno-crossjumping", "common ends of branches are not merged"),
        ("-fno-tree-tail-merge", "the same, on trees"),
        ("-fno-jump-tables", "switches by comparisons alone"),
        (_values(PARAM + "case-values-threshold", 4, 12), "cases from which a table is made"),
        (_values(PARAM + "max-jump-thread-duplication-stmts", 5, 30), "copied to pass a jump by"),
        (_values(PARAM + "logical-op-non-short-circuit", 0, 1), "both sides of && at once"),
    ),
    *_group(
        "loops",
        ("-funroll-loops", "unrolls loops whose count is known on entry"),
        ("-fpeel-loops", "first iterations before the loop"),
        ("-funswitch-loops", "a condition that does not change goes before the loop"),
        ("-fsplit-loops", "two loops where a condition changes once"),
        ("-fversion-loops-for-strides", "a copy of the loop for stride one"),
        ("-ftree-loop-distribution", "two loops in place of one"),
        ("-fno-tree-loop-distribute-patterns", "loops stay loops and not calls of memset"),
        ("-fno-ivopts", "counters as they were written"),
        ("-fno-tree-loop-im", "constant work stays within the loop"),
    ),
    *_group(
        "vectors",
        ("-fno-tree-vectorize", "no vector instructions for loops"),
        ("-ftree-loop-vectorize", "vector instructions for loops"),
        ("-fno-tree-slp-vectorize", "no vector instructions for straight code"),
        (_values("-fvect-cost-model", "dynamic", "cheap"), "when a loop is worth vectors"),
    ),
    *_group(
        "redundancy",
        ("-fgcse-las", "a load after a store to the same place is saved"),
        ("-fgcse-sm", "stores move behind loops"),
        ("-fgcse-after-reload", "loads that spilling made are saved"),
        ("-fno-gcse", "no common subexpressions over a function"),
        ("-ftree-partial-pre", "more partial redundancies are removed"),
        ("-fpredictive-commoning", "values of the last iteration are kept"),
        ("-fno-code-hoisting", "what both branches compute stays in both"),
        ("-fno-tree-pre", "no partial redundancy is removed"),
        ("-fno-tree-sink", "work stays where its result may not be used"),
        ("-fno-store-merging", "small stores are not merged"),
    ),
    *_group(
        "registers",
        ("-frename-registers", "registers that are left over break dependencies"),
        ("-fweb", "a register for each web of uses"),
        ("-flive-range-shrinkage", "values live shorter"),
        ("-fira-loop-pressure", "pressure in loops counts"),
        ("-fira-hoist-pressure", "pressure counts before code is hoisted"),
        (_values("-fira-region", "all", "one"), "where registers are given out"),
        (_values("-fira-algorithm", "priority"), "by priority, not by colouring"),
        ("-fno-shrink-wrap", "registers are saved on entry, not where they are needed"),
        ("-fno-shrink-wrap-separate", "registers are saved together"),
        ("-fno-caller-saves", "no registers saved around calls"),
        ("-fno-ipa-ra", "a call is taken to destroy all its registers"),
    ),
    *_group(
        "scheduling",
        ("-fschedule-insns", "instructions are ordered before registers are given out"),
        ("-fno-schedule-insns2", "they are not ordered after"),
        ("-fsched-pressure", "ordering counts register pressure"),
        ("-fno-sched-interblock", "ordering within blocks only"),
        ("-fno-split-wide-types", "wide values stay in register pairs"),
        ("-fsplit-wide-types-early", "wide values are split at once"),
    ),
]

CLANG_GROUPS = [
    *_group(
        "inlining",
        (tuple(f"-mllvm -inline-threshold={n}" for n in (100, 400, 800)), "what is inlined"),
        (tuple(f"-mllvm -inlinehint-threshold={n}" for n in (200, 600)), "what is inlined if so"
         " declared"),
        ("-fno-semantic-interposition", "calls within the program cannot be replaced from outside"),
    ),
    *_group("layout", (_values("-falign-functions", 16, 32, 64), "where functions begin")),
    *_group("loops", ("-funroll-loops", "unrolls loops"),
            ("-fno-unroll-loops", "unrolls none")),
    *_group("vectors", ("-fno-vectorize", "no vector instructions for loops"),
            ("-fno-slp-vectorize", "no vector instructions for straight code")),
    *_group("branches", ("-fno-jump-tables", "switches by comparisons alone")),
]  # fmt: skip


def is_clang(compiler: str) -> bool:
    return "clang" in compiler


def compilers() -> list[str]:
    """gcc and clang, with the versions that are installed beside them."""
    names = ["gcc", *(f"gcc-{n}" for n in range(20, 9, -1)),
             "clang", *(f"clang-{n}" for n in range(25, 12, -1))]  # fmt: skip
    found: dict[str, str] = {}
    for name in names:
        if shutil.which(name):
            found.setdefault(compiler_version(name), name)
    return list(found.values())


@functools.cache
def compiler_version(compiler: str) -> str:
    if not shutil.which(compiler):
        package = compiler if re.search(r"\d$", compiler) else compiler.split("-")[0]
        raise LabError(f"the compiler {compiler} is missing: install the package {package}")
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.stdout else compiler


@functools.cache
def accepts(compiler: str, flag: str) -> bool:
    """Without a word of complaint: Clang only warns of what it does not do."""
    done = subprocess.run(
        [compiler, "-Werror", "-O2", *flag.split(), "-x", "c", "-", "-c", "-o", "/dev/null"],
        input="int f(int x) { return x + 1; }\n", capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode == 0


def flag_space(compiler: str) -> Space:
    """The parameters that this compiler knows, each with the choices that it takes."""
    known = []
    for parameter in CLANG_GROUPS if is_clang(compiler) else GCC_GROUPS:
        choices = tuple(flag for flag in parameter.choices if accepts(compiler, flag))
        if choices:
            known.append(Parameter(parameter.group, choices, parameter.about))
    return Space(tuple(known))


def layers(base_compiler: str, others: list[str], has_layout: bool) -> list[Layer]:
    """From what decides most to what decides least; each begins from the best so far.

    Compilers are compared when they have a profile and the whole program: without, one says little
    of the other. -march of this machine is no option: the result would not run on the next one; nor
    is -fomit-frame-pointer: distributions keep the frame pointer for profilers and backtraces.
    """
    compiler_options = tuple((name, {"compiler": name}) for name in others if name != base_compiler)
    found = [
        Layer("LTO", (("-flto", {"flags": ("-flto=auto",)}),)),
        Layer("profile", (("profile of the workload", {"profile": True}),)),
        Layer("BOLT", (("laid out by BOLT", {"layout": True}),) if has_layout else ()),
        Layer("level", (("-O3", {"flags": ("-O3",)}),)),
        Layer("symbols", (("bound when linked", {"flags": (
            "-fno-semantic-interposition", "-fno-plt", "-Wl,-Bsymbolic-functions")}),)),
        Layer("compiler", compiler_options),
    ]  # fmt: skip
    aligned = ("-Wl,-z,common-page-size=2097152", "-Wl,-z,max-page-size=2097152")
    found.append(Layer("huge pages", (("text aligned to 2 MB", {"flags": aligned}),), False))
    return [layer for layer in found if layer.options]


def compiler_help(compiler: str, flag: str) -> str | None:
    """What the compiler itself says of a flag, in one line."""
    name = re.sub(r"^-fno-", "-f", flag).partition("=")[0]
    if flag.startswith(PARAM):
        name = flag.rpartition("=")[0]
    for kind in ("optimizers", "params", "common", "target"):
        done = subprocess.run([compiler, f"--help={kind}"], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            words = line.split(maxsplit=1)
            if len(words) == 2 and re.sub(r"=([<\[].*)?$", "", words[0]) == name:
                return words[1].strip()
    return None
