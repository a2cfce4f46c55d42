"""What the engine takes, as test/vectors_page.py found by asking it."""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path

TABLE = Path(__file__).with_name("engine.json")
# Functions that take any number of arguments have up to three in the table.
LISTED_ARGUMENTS = 3
# These bring their arguments to what the engine compares or cuts to.
CONVERTING_SHAPES = {"AS_TIMESTAMP", "AS_TIMESTAMPTZ", "NUMERIC_TYPMOD", "STRING_TYPMOD"}
# Of ranges of the types that it has.
RANGE_SHAPES = {"RANGE", "RANGE_SWAPPED"}
ANY_FIELD = ""
# Their second argument is a constant that the engine has to know; encodings are unknown here.
FORMAT_SHAPES = {"FORMAT", "FORMAT_OF_NUMBERS", "SAME_ENCODING"}
BYTE_FORMATS = {"hex", "base64", "escape"}
NUMBER_FORMAT = re.compile(r"(?:FM|MI|PL|SG|PR|S|D|G|[^A-Z])*", re.IGNORECASE)


class Engine:
    def __init__(self, table: dict):
        self.types: list[str] = table["types"]
        self.collation_uses: dict[str, str] = table["collations"]
        self._signatures = {
            name: {tuple(signature.split(", ")) for signature in signatures}
            for name, signatures in table["functions"].items()
        }
        self._fields: dict[str, list[str]] = table["fields"]
        self._aggregates: dict[str, list[str]] = table["aggregates"]
        self._aliases: dict[str, str] = table["aliases"]
        self._functions = {int(oid): tuple(entry) for oid, entry in table["oids"].items()}
        # Functions of documents and arrays whose values are cached as columns.
        self.inside: frozenset[int] = frozenset(table["inside"])

    def function_of(self, oid: int) -> str | None:
        """The engine's function for that of PostgreSQL."""
        return self._functions.get(oid, (None,))[0]

    def takes_function(self, oid: int, args: Sequence[str | None], result: str | None) -> bool:
        function, shape = self._functions.get(oid, (None, ""))
        if function is None or result is None or None in args:
            return False
        if shape in CONVERTING_SHAPES | RANGE_SHAPES:
            return True
        if shape == "FIRST_ARGUMENT":
            return args[0] == result
        if shape in ("SWAPPED", "ZONE_FIRST"):
            args = args[::-1]
        return self.takes(function, args, result)

    def takes(self, function: str, args: Sequence[str], result: str) -> bool:
        wanted = (*args[:LISTED_ARGUMENTS], result)
        return any(
            len(signature) == len(wanted)
            and all(self._is(listed, given) for listed, given in zip_longest(signature, wanted))
            for signature in self._signatures[function]
        )

    @staticmethod
    def _is(listed: str, given: str) -> bool:
        return listed == given or listed == f"constant {given}"

    def knows_field(self, function: str, of: str | None, field: str) -> bool:
        """ANY_FIELD: whichever SQL allows of a point in time."""
        known = self._fields.get(f"{function} {of}", ())
        return bool(known) and function != "DATE_TRUNC" if field == ANY_FIELD else field in known

    def has_format(self, oid: int) -> bool:
        return self._functions.get(oid, (None, ""))[1] in FORMAT_SHAPES

    def knows_format(self, function: str, written: str) -> bool:
        """Of the literal; a wrong one is PostgreSQL's too."""
        if function == "TO_CHAR":
            plain = re.sub(r'"[^"]*"', "", written.strip("'"))
            has_one_point = len(re.findall(r"[.D]", plain, re.IGNORECASE)) <= 1
            return has_one_point and NUMBER_FORMAT.fullmatch(plain) is not None
        return function in ("ENCODE", "DECODE") and written.strip("'").lower() in BYTE_FORMATS

    def has_fields(self, function: str) -> bool:
        return any(key.split()[0] == function for key in self._fields)

    def takes_aggregate(self, name: str, args: Sequence[str | None], result: str | None) -> bool:
        if result is None or None in args:
            return False
        signatures = self._aggregates.get(self._aliases.get(name, name), ())
        return ", ".join((*args, result)) in signatures


@cache
def read_engine() -> Engine:
    return Engine(json.loads(TABLE.read_text()))
