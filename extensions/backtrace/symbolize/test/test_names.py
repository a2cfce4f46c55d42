"""Functions, files and lines of programs built in many ways."""

import re
import shutil
from pathlib import Path

import pytest
from stacks import (
    CC,
    EMULATOR,
    NESTED_FRAMES,
    OBJCOPY,
    PROGRAMS,
    build,
    check,
    expect_nested,
    line_of,
    own_frames,
    parse_frames,
    raw_stack,
    symbolize,
    symbolize_stack,
)


@pytest.mark.parametrize(
    "flags",
    [
        ("-fPIE", "-pie"),
        ("-fno-pie", "-no-pie"),
        ("-static",),
        ("-static-pie", "-fPIE"),
        ("-gdwarf-4",),
        ("-gz",),
        ("-g1",),
        ("-O3", "-ffunction-sections"),
        ("-fno-omit-frame-pointer",),
        ("-Wl,-z,noseparate-code",),
    ],
    ids=" ".join,
)
def test_functions_and_lines(tmp_path, flags):
    expect_nested(symbolize_stack(raw_stack(build(tmp_path, "nested.c", *flags))))


def test_without_the_index_of_addresses(tmp_path):
    program = build(tmp_path, "nested.c")
    check(OBJCOPY, "--remove-section", ".debug_aranges", program)
    expect_nested(symbolize_stack(raw_stack(program)))


def test_shared_library(tmp_path):
    library = tmp_path / "libnested.so"
    check(
        CC,
        "-O2",
        "-g",
        "-fPIC",
        "-shared",
        "-Dmain=library_main",
        PROGRAMS / "nested.c",
        PROGRAMS / "print_stack.c",
        "-o",
        library,
    )
    (tmp_path / "main.c").write_text(
        "int library_main(int, char **);\nint main(void) { return library_main(1, 0); }\n"
    )
    check(CC, tmp_path / "main.c", library, "-o", tmp_path / "program")
    frames = symbolize_stack(raw_stack(tmp_path / "program"))
    names = [frame.function for frame in frames]
    assert names[names.index("finish") : names.index("library_main") + 1] == [
        *(function for function, _, _ in NESTED_FRAMES[:-1]),
        "library_main",
    ]


def test_templates(tmp_path):
    frames = own_frames(symbolize_stack(raw_stack(build(tmp_path, "templates.cc"))))
    string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    found = [
        (frame.function, frame.line, frame.inlined)
        for frame in frames
        if Path(frame.file).name == "templates.cc"
    ]
    line = {
        mark: line_of("templates.cc", mark)
        for mark in ("operator", "call", "inlined", "lambda", "main")
    }
    assert found[0] == (
        f"outer::(anonymous namespace)::Hidden::operator()({string} const&) const",
        line["operator"],
        False,
    )
    assert found[1] == (f"outer::Holder<{string}, 1>::Call({string} const&)", line["call"], False)
    assert found[2] == (
        f"outer::Holder<{string}, 1>::Inlined({string} const&)",
        line["inlined"],
        True,
    )
    assert found[3] == ("operator()", line["lambda"], True)
    assert found[-1] == ("main", line["main"], False)


def test_rust(tmp_path):
    rustc = shutil.which("rustc")
    if rustc is None or EMULATOR:
        pytest.skip("no rustc for these programs")
    check(CC, "-O2", "-g", "-c", PROGRAMS / "print_stack.c", "-o", tmp_path / "print_stack.o")
    check(
        rustc,
        "-g",
        "-C",
        "opt-level=0",
        "-C",
        f"link-arg={tmp_path}/print_stack.o",
        PROGRAMS / "closures.rs",
        "-o",
        tmp_path / "program",
    )
    frames = symbolize_stack(raw_stack(tmp_path / "program"))
    found = [
        (frame.function, frame.line)
        for frame in frames
        if frame.file and frame.file.endswith("closures.rs")
    ]
    assert ("closures::main::{{closure}}", line_of("closures.rs", "closure")) in found
    assert any(
        function.startswith("closures::shapes::apply") and line == line_of("closures.rs", "apply")
        for function, line in found
    )
    assert ("closures::main", line_of("closures.rs", "main")) in found


def split_debug(program: Path, debug: Path) -> None:
    debug.parent.mkdir(parents=True, exist_ok=True)
    check(OBJCOPY, "--only-keep-debug", program, debug)
    check(OBJCOPY, "--strip-all", program)


def build_id_of(raw: str, program: Path) -> str:
    return next(line.split()[3] for line in raw.splitlines() if line.endswith(f" {program}"))


def test_debug_link(tmp_path):
    program = build(tmp_path, "nested.c")
    split_debug(program, tmp_path / ".debug/program.debug")
    check(OBJCOPY, f"--add-gnu-debuglink={tmp_path}/.debug/program.debug", program)
    expect_nested(symbolize_stack(raw_stack(program)))


@pytest.mark.parametrize("root", ["", "usr/lib/debug"])
def test_debug_directory_by_build_id(tmp_path, root):
    program = build(tmp_path, "nested.c")
    build_id = build_id_of(raw_stack(program), program)
    split_debug(
        program, tmp_path / "other" / root / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    )
    raw = raw_stack(program)
    assert all(frame.file is None for frame in symbolize_stack(raw) if frame.module == str(program))
    expect_nested(symbolize_stack(raw, "--debug-dir", tmp_path / "other"))
    # On another machine the program itself is not there.
    program.rename(tmp_path / "moved")
    expect_nested(symbolize_stack(raw, "--debug-dir", tmp_path / "other"))


@pytest.mark.parametrize(
    "flags", [("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-Wl,-z,noseparate-code",)], ids=" ".join
)
def test_only_the_debug_file(tmp_path, flags):
    program = build(tmp_path, "nested.c", *flags)
    raw = raw_stack(program)
    build_id = build_id_of(raw, program)
    split_debug(program, tmp_path / "other/.build-id" / build_id[:2] / f"{build_id[2:]}.debug")
    program.unlink()
    expect_nested(symbolize_stack(raw, "--debug-dir", tmp_path / "other"))


def test_copied_elsewhere(tmp_path):
    program = build(tmp_path, "nested.c")
    raw = raw_stack(program)
    for copy in (tmp_path / "flat" / program.name, tmp_path / "root" / str(program)[1:]):
        copy.parent.mkdir(parents=True)
        shutil.copy(program, copy)
    program.unlink()
    for directory in ("flat", "root"):
        expect_nested(
            symbolize_stack(
                raw, "--debug-dir", tmp_path / "nothing", "--debug-dir", tmp_path / directory
            )
        )


def names_without_lines(program: Path) -> list[str]:
    frames = symbolize_stack(raw_stack(program))
    assert all(frame.file is None for frame in frames if frame.module == str(program))
    return [frame.function for frame in frames if frame.module == str(program)]


PHYSICAL = [function for function, _, inlined in NESTED_FRAMES if not inlined]


def test_symbol_table_only(tmp_path):
    program = build(tmp_path, "nested.c")
    check(OBJCOPY, "--strip-debug", program)
    names = names_without_lines(program)
    assert names[1 : 1 + len(PHYSICAL)] == PHYSICAL


def test_dynamic_symbols_only(tmp_path):
    program = build(tmp_path, "nested.c", "-rdynamic")
    check(OBJCOPY, "--strip-all", program)
    names = names_without_lines(program)
    # Static functions have no name there, and must not get their neighbour's.
    assert names[:6] == ["print_stack", "??", "??", "??", "exported", "main"]


def test_mini_debug_information(tmp_path):
    if shutil.which("xz") is None:
        pytest.skip("no xz")
    program = build(tmp_path, "nested.c")
    check(OBJCOPY, "--strip-debug", program, tmp_path / "symbols")
    check(OBJCOPY, "--only-keep-debug", tmp_path / "symbols", tmp_path / "mini")
    check("xz", "--keep", tmp_path / "mini")
    check(OBJCOPY, "--strip-all", program)
    check(OBJCOPY, "--add-section", f".gnu_debugdata={tmp_path}/mini.xz", program)
    names = names_without_lines(program)
    assert names[1 : 1 + len(PHYSICAL)] == PHYSICAL


def test_nothing_but_positions(tmp_path):
    program = build(tmp_path, "nested.c")
    check(OBJCOPY, "--strip-all", program)
    raw = raw_stack(program)
    frames = [frame for frame in symbolize_stack(raw) if frame.module == str(program)]
    assert {frame.function for frame in frames} == {"??"}
    assert f"[{build_id_of(raw, program)}]" in symbolize(input=raw).stdout


def test_replaced_file(tmp_path):
    program = build(tmp_path, "nested.c")
    raw = raw_stack(program)
    build_id = build_id_of(raw, program)
    build(tmp_path, "nested.c", "-DOTHER", "-O1")
    other_id = build_id_of(raw_stack(program), program)
    frames = [frame for frame in symbolize_stack(raw) if frame.module == str(program)]
    assert build_id != other_id and len(frames) > len(PHYSICAL)
    for frame in frames:
        assert (frame.function, frame.problem) == (
            "??",
            f"the file is another now: build-id {other_id}",
        )


def test_deleted_file(tmp_path):
    program = build(tmp_path, "nested.c")
    deleted = raw_stack(program).replace(str(program), f"{program} (deleted)")
    expect_nested(symbolize_stack(deleted))  # the same file is there again
    program.unlink()
    frames = [frame for frame in symbolize_stack(deleted) if frame.module == f"{program} (deleted)"]
    assert {frame.function for frame in frames} == {"??"}
    # Without a build-id, a file that took the place of a deleted one is not believed.
    build(tmp_path, "nested.c")
    unknown = re.sub(r"^(module \S+ \S+) \S+", r"\1 -", deleted, flags=re.M)
    frames = [frame for frame in symbolize_stack(unknown) if frame.module == f"{program} (deleted)"]
    assert {frame.function for frame in frames} == {"??"}


def test_vdso(tmp_path):
    if EMULATOR:
        pytest.skip("an emulated program has a vdso of its own")
    with open("/proc/self/maps") as maps:
        mapping = next(line for line in maps if line.rstrip().endswith("[vdso]"))
    start, end = (int(word, 16) for word in mapping.split()[0].split("-"))
    with open("/proc/self/mem", "rb") as memory:
        memory.seek(start)
        (tmp_path / "vdso").write_bytes(memory.read(end - start))
    symbols = [line.split() for line in check("nm", "-D", tmp_path / "vdso").splitlines()]
    address = next(
        int(words[0], 16) for words in symbols if words[2].startswith("__vdso_gettimeofday")
    )
    raw = f"module {start:x}-{end:x} 0 - [vdso]\nframe {start + address + 4:x} exact\n\n"
    [frame] = symbolize_stack(raw)
    assert frame.function in ("__vdso_gettimeofday", "gettimeofday") and frame.module == "[vdso]"
    other = raw.replace(" - ", " 0123456789abcdef0123456789abcdef01234567 ")
    [frame] = symbolize_stack(other)
    assert frame.function == "??" and frame.problem.startswith("the file is another now")


def test_many_stacks_are_answered_one_by_one(nested):
    raw = raw_stack(nested)
    done = symbolize(input=raw * 50)
    stacks = done.stdout.split("\n\n")
    assert len(stacks) == 51 and stacks[50] == "" and len(set(stacks[:50])) == 1
    expect_nested(parse_frames(stacks[0]))
