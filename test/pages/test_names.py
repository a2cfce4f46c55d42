"""What pages name in code exists: settings, objects of the extensions and their columns, commands and their options,
targets of make."""

import re

import pytest
from commands import check_arguments, options
from page_code import PAGES, TABLE, Code, page_code
from penumbra_lab.state import TREE

CODE = [code for page in PAGES for code in page_code(page)]
SPANS = [code for code in CODE if "\n" not in code.text]
FILES = {"penumbra.spec", "penumbra.token", "penumbra_compress.h"}
# Not in pg_settings, or a class of settings.
HIDDEN = {"penumbra.stop_points", "penumbra_numeric.search_path_before"}
OTHERS = set(TABLE["names"])
NAMES = """
SELECT name FROM pg_settings
UNION SELECT proname FROM pg_proc UNION SELECT unnest(proargnames) FROM pg_proc
UNION SELECT relname FROM pg_class UNION SELECT attname FROM pg_attribute UNION SELECT typname FROM pg_type
UNION SELECT nspname FROM pg_namespace UNION SELECT extname FROM pg_extension UNION SELECT rolname FROM pg_roles
UNION SELECT name FROM pg_available_extensions UNION SELECT opcname FROM pg_opclass UNION SELECT amname FROM pg_am
"""
QUALIFIED = """
SELECT name FROM pg_settings WHERE name LIKE 'penumbra%.%'
UNION SELECT nspname || '.' || proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
UNION SELECT nspname || '.' || relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
"""


@pytest.fixture(scope="module")
def names(names_server) -> set[str]:
    with names_server.connect() as connection:
        found = {name for (name,) in connection.execute(NAMES)}
    installation = names_server.installation
    return found | {path.name for path in installation.bin_directory.iterdir()} | {
        path.stem for path in installation.library_directory.glob("*.so")}  # fmt: skip


@pytest.fixture(scope="module")
def qualified(names_server) -> set[str]:
    with names_server.connect() as connection:
        return {name for (name,) in connection.execute(QUALIFIED)} | HIDDEN


def check(found: list[tuple[Code, str]], known: set[str], at_least: int) -> None:
    assert len(found) > at_least, "the pages' code is not found"
    missing = "\n".join(sorted({f"{code}: {name}" for code, name in found if name not in known}))
    assert not missing, missing


def test_settings_and_objects_of_schemas(qualified):
    found = [(code, name) for code in CODE for name in re.findall(r"(?<![\w./-])penumbra(?:_[a-z]+)?\.[a-z_]+\b(?!\.)", code.text)]
    check(found, qualified | FILES, at_least=150)


def test_settings_with_values(names):
    found = [(code, match[1]) for code in SPANS if (match := re.fullmatch(r"([a-z_]+(?:\.[a-z_]+)?) = \S.*", code.text))]
    check(found, names | OTHERS, at_least=20)


def test_words(names):
    found = [(code, match[1]) for code in SPANS if (match := re.fullmatch(r"([a-z]+(?:_[a-z0-9]+)+)(\(.*\))?", code.text))]
    check(found, names | HIDDEN | OTHERS, at_least=300)


def test_commands():
    found = [code for code in SPANS if code.text.startswith("penumbra ") and "=" not in code.text]
    assert len(found) > 30
    for code in found:
        check_arguments(code.text)


def test_targets():
    """Of the tree's Makefile, not of those of extensions."""
    lines = re.findall(r"^([a-z][a-z -]*):", (TREE / "Makefile").read_text(), re.MULTILINE)
    found = [(code, name) for code in SPANS if re.match("make (?!-C )", code.text)
             for name in re.findall(r" ([a-z][a-z-]*)(?= |$)", code.text)]  # fmt: skip
    check(found, {name for line in lines for name in line.split()}, at_least=15)


def test_options():
    known = options() | OTHERS
    found = [(code, name) for code in SPANS if not code.text.startswith("penumbra ")
             for name in re.findall(r"(?<![\w-])--[a-z][a-z-]+", code.text)]  # fmt: skip
    check(found, known, at_least=20)


def test_the_table_names_what_pages_name():
    text = "\n".join(code.text for code in CODE)
    assert [name for name in TABLE["names"] if name not in text] == []
