"""Every block of every page runs, in the order of the page, and what the page shows after it has that shape."""

import re
from itertools import zip_longest

import pytest
from commands import check_arguments
from page_code import PAGES, TABLE, Code, page_code, settings, steps

# Whole statements among the spans.
STATEMENT = re.compile(r"SELECT .*( FROM |\()|(SHOW|SET [\w.]+ =|CALL \w+\(|ALTER (SYSTEM|(ROLE|DATABASE) \w+) SET [\w.]+ =|ALTER EXTENSION \w+) ")
SLOW = {"docs/advise.md", "docs/benchmarking.md", "docs/comparing.md"}


def entries(kind: str, code: Code) -> list[dict]:
    """Of pages.toml, that are about this code."""
    return [entry for entry in TABLE.get(kind, []) if entry["page"] == code.page and entry["find"] in code.text]


def changed(code: Code, major: int) -> str:
    text = code.text
    for entry in entries("change", code):
        if major < entry.get("before", 1000):
            text = text.replace(entry["find"], entry["with"])
    return text


def is_block(code: Code) -> bool:
    return code.language != "" or "\n" in code.text


def is_run(code: Code) -> bool:
    """Spans in sentences are run where they are whole statements."""
    is_statement = STATEMENT.match(code.text) and not re.search(r"\.\.\.|…", code.text)
    return bool(is_block(code) or is_statement) and not entries("not_run", code)


@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.slow] if page in SLOW else []) for page in PAGES
                                  if any(is_run(code) for code in page_code(page))])  # fmt: skip
def test_page(page, page_server):
    page_server.prepare()
    for code in page_code(page):
        if is_run(code):
            run(code, page_server)


def run(code: Code, server) -> None:
    text = changed(code, server.server.installation.major)
    if code.language == "ini":
        server.restart(settings(code))
        check_settings(server, settings(code))
    elif code.language in ("sh", "console"):
        called = {step.code.split()[0] for step in steps(code, code.text)}
        assert called <= set(TABLE["programs"]), f"{code}: neither run nor listed: {called}"
        for step in steps(code, text):
            command = step.code.removeprefix(".venv/bin/")
            if command.startswith(tuple(TABLE["long"])):
                check_arguments(command)
            else:
                check_words(code, step.output, server.shell(step.code))
    elif code.language in ("sql", "psql"):
        for step in steps(code, text):
            check_rows(code, step.output, server.psql(step.code))
    elif not is_block(code):
        server.psql(text + ";")
    else:
        pytest.fail(f"{code}: neither run nor listed: {code.language or 'a block without a language'}")


def check_settings(server, wanted: dict[str, str]) -> None:
    for name, value in wanted.items():
        assert server.psql(f"SELECT current_setting('{name}');").splitlines()[2].strip() == value, name


def example(code: Code, kind: str) -> set[str]:
    return {word for entry in entries("example", code) for word in entry.get(kind, [])}


def check_words(code: Code, shown: list[str], output: str) -> None:
    """Words and not figures."""
    printed, wanted = (set(re.findall(r"[^\W\d]{3,}", text)) for text in (output, "\n".join(shown)))
    missing = wanted - printed - example(code, "words")
    assert not missing, f"{code}: {missing} not in:\n{output}"


def cells(line: str) -> list[str]:
    """Without figures."""
    return [re.sub(r"\d+(\.\d+)?", "#", cell.strip()) for cell in line.split("|")]


def check_rows(code: Code, shown: list[str], output: str) -> None:
    """A table has the same columns, and in them the same texts; another line is a row of one column."""
    printed = [cells(line) for line in output.splitlines()]
    header: list[str] = []
    for line, following in zip_longest(shown, shown[1:], fillvalue=""):
        row = cells(line)
        is_header = re.fullmatch("-[-+]*", following.strip()) is not None
        header = row if is_header else header
        if is_header:
            assert row in printed, f"{code}: {line!r} not in:\n{output}"
        elif re.sub("[-+.]", "", line.strip()):
            for column, cell in enumerate(row):
                found = {other[column] for other in printed if len(other) == len(row)}
                is_example = column < len(header) and header[column] in example(code, "columns")
                assert is_example or cell in found, f"{code}: {line!r} not in:\n{output}"


def test_the_table_has_no_entry_of_nothing():
    found = [code for page in PAGES for code in page_code(page)]
    unused = [entry for kind in ("change", "not_run", "example") for entry in TABLE.get(kind, [])
              if not any(entry["page"] == code.page and entry["find"] in code.text for code in found)]  # fmt: skip
    assert not unused
    assert set(TABLE["page"]) <= set(PAGES)
