"""docs/reference.md against the catalog, both ways: nothing public is missing there, and all that it names exists."""

import re

import pytest
from conftest import EXTENSIONS, connect
from penumbra_lab.state import TREE

PAGE = (TREE / "docs/reference.md").read_text()

# Not in pg_settings, or not for use by hand.
HIDDEN = {"penumbra.stop_points", "penumbra_numeric.search_path_before"}
# What the page must have: settings, and of each extension functions that are not internal nor pg_catalog's own, and
# views with their columns.
OBJECTS = """
SELECT 'setting', name FROM pg_settings WHERE split_part(name, '.', 1) = ANY (%(extensions)s)
    AND name <> ALL (%(hidden)s)
UNION
SELECT 'function', p.proname FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND d.deptype = 'e'
WHERE e.extname = ANY (%(extensions)s) AND obj_description(p.oid, 'pg_proc') !~ '^(internal:|as in pg_catalog)'
    AND NOT (e.extname = 'penumbra' AND p.proname LIKE 'get\\_%%')
UNION
SELECT 'column', a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'v'
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid WHERE e.extname = ANY (%(extensions)s) AND a.attnum > 0
UNION
SELECT 'view', c.relname FROM pg_class c
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid WHERE e.extname = ANY (%(extensions)s) AND c.relkind = 'v'
"""


@pytest.fixture(scope="module")
def catalog(server) -> set[tuple[str, str]]:
    with connect(server, "template1") as connection:
        return set(connection.execute(OBJECTS, {"extensions": EXTENSIONS, "hidden": sorted(HIDDEN)}).fetchall())


def test_everything_public_is_in_the_reference(catalog):
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", PAGE))))
    settings = set(re.findall(r"`(penumbra\w*\.\w+)`", PAGE))
    missing = {(kind, name) for kind, name in catalog if name not in (settings if kind == "setting" else words)}
    assert sorted(missing) == []


def test_everything_in_the_reference_exists(catalog):
    names = {name for _, name in catalog}
    first = re.findall(r"^\| (?:view )?`(penumbra\w*\.\w+|\w+(?=\())", PAGE, re.MULTILINE)
    assert len(first) > 40
    assert [name for name in first if name not in names | HIDDEN] == []
