"""Random queries over documents, arrays and composites of random shape.

A seed gives a table of some hundred rows: an id, a document, arrays of integers and of texts, an enum, a composite with another
one and an array inside, and an array of these; and queries that read what is inside by random paths. Casts are guarded by the type of what they read, so that errors are those of the
path itself. Where equal numbers are written in several ways, whole documents are no keys.
"""

import json
import random

KEYS = ["a", "b", "c", "list", "", "ключ", 'q"uote', "long " + "k" * 300, "1", "-1"]
STRINGS = ["", "x", "Größe 🎉", "\t\n\\\"\x7f", "5", "-1.50", "1e3", "NaN", "true", "2024-02-29", "y" * 3000]
# As they are written: PostgreSQL keeps scales, and takes what no float can hold.
NUMBERS = ["0", "-0", "1", "1.0", "-1.50", "123456789012345678901234567890", "1e30", "1E-7", "0.0000", "7.25", "1e400", "-1e-400",
           "9" * 3000, "0." + "0" * 500 + "1"]  # fmt: skip
# Whole values are keys where equal numbers are written alike, so that it is known which one a group shows.
PLAIN_NUMBERS = ["0.000", "1", "-2.0", "17", "10.00", "2.5", "99999999999", "-123456789012345678901234567890.1000"]
TABLE = "CREATE TABLE {name} (id integer PRIMARY KEY, doc jsonb, ints integer[], texts text[], mood mood, spot spot, spots spot[])"
TYPES = """CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); ALTER TYPE mood ADD VALUE 'fine' AFTER 'sad';
    CREATE TYPE inner_spot AS (word text, n numeric, took interval); CREATE DOMAIN small AS integer CHECK (VALUE < 100);
    CREATE TYPE spot AS (name text, k small, part inner_spot, list integer[], code char(3), doc jsonb)"""


class Documents:
    def __init__(self, seed: int | str, numbers: list[str]):
        self.choose = random.Random(seed)
        self.numbers = numbers

    def scalar(self) -> str:
        kind = self.choose.random()
        if kind < 0.4:
            return json.dumps(self.choose.choice(STRINGS), ensure_ascii=False)
        return self.choose.choice(self.numbers) if kind < 0.8 else self.choose.choice(["null", "true", "false"])

    def key(self) -> str:
        return json.dumps(self.choose.choice(KEYS), ensure_ascii=False)

    def value(self, depth: int = 5) -> str:
        """Keys are not unique: the last value of one stays."""
        kind = self.choose.random()
        if depth == 0 or kind < 0.45:
            return self.scalar()
        parts = [self.value(depth - 1) for _ in range(self.choose.choice([0, 1, 1, 2, 3, 6]))]
        if kind < 0.65:
            return f"[{', '.join(parts)}]"
        return f"{{{', '.join(f'{self.key()}: {part}' for part in parts)}}}"

    def document(self) -> str:
        if self.choose.random() < 0.1:
            return self.value()
        keys = self.choose.sample(KEYS, self.choose.randint(0, len(KEYS)))
        return f"{{{', '.join(f'{json.dumps(k, ensure_ascii=False)}: {self.value()}' for k in keys)}}}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class DocumentQueryGenerator:
    def __init__(self, seed: int):
        self.choose = random.Random(f"documents {seed}")
        self.is_plain = seed % 2 == 0
        self.documents = Documents(f"documents {seed}", PLAIN_NUMBERS if self.is_plain else NUMBERS)
        # Tables of a few shapes are like those of events; others have a shape in each row.
        self.keys = [key for key in self.choose.sample(KEYS, self.choose.choice((3, 5, len(KEYS)))) if len(key) < 50 or seed % 8 == 0] or ["a"]
        self.shapes = [self.documents.document() for _ in range(self.choose.choice((0, 0, 4)))]
        # Few, since a table has numbers for some expressions only.
        self.jsons = [self._json() for _ in range(5)]
        self.texts = [self._text() for _ in range(10)]
        self.numbers = [self._number() for _ in range(8)]
        self.conditions = [self._condition() for _ in range(12)]

    # ------------------------------------------------------------ rows

    def rows(self, count: int) -> list[tuple]:
        return [(i, self._document(), self._ints(), self._texts(), self.choose.choice(("sad", "ok", "happy", "fine", None)),
                 self._spot(), self._spots())
                for i in range(count)]  # fmt: skip

    def _document(self) -> str | None:
        if self.choose.random() < 0.04:
            return None
        return self.choose.choice(self.shapes) if self.shapes and self.choose.random() < 0.9 else self.documents.document()

    def _array(self, element) -> str | None:
        """As it is written, with NULLs, several dimensions and lower bounds."""
        kind = self.choose.random()
        if kind < 0.05:
            return None
        if kind < 0.12:
            return "{}"
        if kind < 0.2:
            return f"{{{{{element()},{element()}}},{{{element()},{element()}}}}}"
        elements = ",".join(element() for _ in range(self.choose.choice((1, 1, 2, 3, 3, 5, 40))))
        if kind < 0.28:
            first = self.choose.choice((-2, 0, 5))
            return f"[{first}:{first + elements.count(',')}]={{{elements}}}"
        return f"{{{elements}}}"

    def _ints(self) -> str | None:
        return self._array(lambda: self.choose.choice(("0", "1", "2", "3", "3", "7", "-5", "2147483647", "NULL")))

    def _texts(self) -> str | None:
        return self._array(lambda: self.choose.choice(('"red"', '"green"', '""', '"NULL"', "NULL", '"a b"', '"Größe"', '"x\\"y"')))

    def _spot(self) -> str | None:
        """As a row is written."""
        if self.choose.random() < 0.1:
            return None
        part = "".join(self.choose.choice(fields) + "," for fields in (("x", "", '""""', "Größe"), ("1.50", "", "-2", "1000000"), ("1 day", "02:00:00", "")))[:-1]
        written = '"({})"'.format(part.replace('"', '""'))
        return "({},{},{},{},{},{})".format(
            self.choose.choice(("a", "b", '"b c"', "")), self.choose.choice(("1", "7", "", "-3")), self.choose.choice((written, written, "")),
            self.choose.choice(('"{1,2}"', "{}", "", '"{3,NULL}"')), self.choose.choice(("xyz", "k", "")), self.choose.choice(('"{""a"": 1}"', "[]", "", "5")))  # fmt: skip

    def _spots(self) -> str | None:
        kind = self.choose.random()
        if kind < 0.1:
            return None
        spots = [self._spot() for _ in range(self.choose.choice((0, 1, 1, 2, 3)))]
        quoted = ["NULL" if spot is None else '"{}"'.format(spot.replace("\\", "\\\\").replace('"', '\\"')) for spot in spots]
        return "{" + ",".join(quoted) + "}"

    # ------------------------------------------------------------ values inside

    def _key(self) -> str:
        return _literal(self.choose.choice(self.keys))

    def _step(self) -> str:
        return str(self.choose.choice((0, 0, 1, 2, -1, 7))) if self.choose.random() < 0.3 else self._key()

    def _json(self) -> str:
        """A value of type jsonb."""
        steps = [self._step() for _ in range(self.choose.choice((1, 1, 1, 2, 2, 3)))]
        listed = ", ".join(step if step[0] == "'" else f"'{step}'" for step in steps)
        kind = self.choose.randrange(10)
        if kind < 5:
            return "doc" + "".join(f" -> {step}" for step in steps)
        if kind < 7:
            return f"doc #> ARRAY[{listed}]"
        if kind == 7:
            return "doc" + "".join(f"[{step}]" for step in steps)
        if kind == 8:
            return f"jsonb_extract_path(doc, {listed})"
        return f"jsonb_path_query_first(doc, {_literal(self._json_path())})"

    def _json_path(self) -> str:
        members = "".join(f'."{key}"' if '"' not in key else ".*" for key in self.choose.choices(self.keys, k=self.choose.choice((1, 1, 2))))
        return "$" + members + self.choose.choice(("", "", "[0]", "[*]", "[last]", " ? (@ > 1)", ".type()", ".size()", "[*] ? (@ == \"x\")"))

    def _text(self) -> str:
        value = self.json()
        steps = [self._step() for _ in range(self.choose.choice((0, 0, 1, 2)))]
        kind = self.choose.randrange(20)
        if kind < 6:
            return "(doc" + "".join(f" -> {step}" for step in steps) + f" ->> {self._step()})"
        if kind < 8:
            return f"(({value}) #>> ARRAY[]::text[])"
        return (
            f"jsonb_typeof({value})", f"({value})::text", "array_to_string(ints, ',')", "array_to_string(texts[1:2], '|', '-')", "array_dims(ints)", f"jsonb_path_query_array(doc, {_literal(self._json_path())})::text",
            f"md5(({value})::text)", "(spot).name", "((spot).part).word", "(spots[1]).code", "((spot).doc ->> 'a')", "((spots[2]).part).word",
        )[kind - 8]  # fmt: skip

    def _number(self) -> str:
        value = self.json()
        return self.choose.choice((
            f"(CASE jsonb_typeof({value}) WHEN 'number' THEN ({value})::numeric END)",
            f"(CASE jsonb_typeof({value}) WHEN 'array' THEN jsonb_array_length({value}) END)",
            f"(CASE WHEN ({value} #>> '{{}}') ~ '^-?[0-9]{{1,8}}$' THEN ({value} #>> '{{}}')::integer END)", f"length(({value})::text)",
            "cardinality(ints)", "ints[1]", "ints[2]", "ints[0]", "array_length(ints, 1)", "array_lower(texts, 1)", "ints[1][2]", "array_ndims(ints)",
            "(CASE array_ndims(ints) WHEN 1 THEN array_position(ints, 3) END)", "cardinality(ints[2:3])",
            "(CASE WHEN ints[2] > 3 THEN ints[2] ELSE cardinality(texts) END)", "(mood > 'sad')::integer", "array_upper(ints, 1)",
            "cardinality(array_remove(ints, 3))", "cardinality(array_cat(ints[1:1], ints[2:2]))", "(CASE array_ndims(texts) WHEN 1 THEN array_position(texts, 'red') END)",
            "(spot).k", "((spot).part).n", "cardinality(spots)", "((spots[1]).part).n", "(spot).list[1]",
            "(SELECT count(*) FROM unnest(texts) WITH ORDINALITY u (e, n) WHERE n > 1 AND e > 'g')",
        ))  # fmt: skip

    def _condition(self) -> str:
        element, key = self.choose.choice(("0", "1", "3", "7", "-5", "NULL")), self._key()
        word = self.choose.choice(("'red'", "''", "'NULL'", "'Größe'", "NULL"))
        contained = _literal(self.choose.choice((
            "{}", "[]", '{"a": 1}', '{"a": {}}', '{"list": []}', '["x"]', "1", '{"b": null}', self.documents.value(2),
            f"{{{json.dumps(self.choose.choice(self.keys))}: {self.documents.scalar()}}}"
        )))  # fmt: skip
        operator, text = self.choose.choice(("=", "<>", "<", ">=")), self.text()
        return self.choose.choice((
            f"doc ? {key}", f"({self.json()}) ? {key}", f"doc ?| ARRAY[{key}, 'x']", f"doc ?& ARRAY[{key}, 'a']", f"doc @> {contained}", f"({self.json()}) @> {contained}",
            f"{contained} @> doc", f"({self.json()}) {operator} {contained}", f"({self.json()}) IS NULL", f"{text} = 'x'",
            f"{text} LIKE '%1%'", f"{text} ~ '^[0-9]'", f"{text} IN ('5', 'number', '1', '')", f"{self.number()} > 1",
            f"doc @? {_literal(self._json_path())}", f"jsonb_path_exists(doc, {_literal(self._json_path())})", f"{element} = ANY (ints)",
            f"{element} <> ALL (ints)", f"{element} {operator} ANY (ints)", f"{element} {operator} ALL (ints)", f"ints @> ARRAY[{element}]::integer[]",
            f"ints <@ ARRAY[1, 3, {element}]", f"ints && ARRAY[7, {element}]", f"ints {operator} ARRAY[1, {element}]", f"ints[1:2] = ARRAY[3, {element}]",
            f"{word} = ANY (texts)", f"texts && ARRAY['a b', {word}]", f"texts @> ARRAY[{word}]::text[]", f"texts {operator} ARRAY['green', {word}]",
            f"mood {operator} '{self.choose.choice(('sad', 'fine', 'happy'))}'", "mood IN ('fine', 'ok')", "ints = '{}'",
            "spot IS NULL", "spot IS NOT NULL", f"spot {operator} ROW('b', 1, NULL, '{{1,2}}', 'k', NULL)::spot", "(spot).part IS NULL", "spots = '{}'", f"((spot).part).took {operator} '1 day'",
        ))  # fmt: skip

    def _scalar(self) -> str:
        """A value that is written in one way."""
        return self.choose.choice((self.text, self.text, lambda: f"{self.number()}::text", lambda: f"({self.condition()})", lambda: "mood"))()

    def _whole(self) -> str:
        kinds = ["ints", "texts", "ints", "texts", "ints[1:2]", "texts[2:]", "array_remove(texts, 'red')", "array_replace(ints, 3, 4)", "mood", "spot", "spots", "(spot).part", "(spot).list", "(spots[1])", "spots[1:1]"] + ["doc", f"({self.json()})", f"({self.json()})"] * self.is_plain
        return self.choose.choice(kinds)

    # ------------------------------------------------------------ what is cached, and queries

    def json(self) -> str:
        return self.choose.choice(self.jsons)

    def text(self) -> str:
        return self.choose.choice(self.texts)

    def number(self) -> str:
        return self.choose.choice(self.numbers)

    def condition(self) -> str:
        return self.choose.choice(self.conditions)

    def expressions(self) -> list[str]:
        return self.texts[: self.choose.choice((0, 1, 3))]

    def _rows_of(self, table: str) -> str:
        """The table, or a UNION ALL of members that have its columns in one way or another."""
        if self.choose.random() < 0.75:
            return table
        other = self.choose.choice((
            f"SELECT id + 10000, doc, ints, texts, mood, spot, spots FROM {table}", f"SELECT * FROM (TABLE {table} UNION ALL TABLE {table}) n WHERE false",
            f"SELECT id - 10000, doc -> {self._key()}, ints, texts, 'ok', spot, spots FROM {table}", f"SELECT -id - 1, doc, ints, texts, mood, spot, spots FROM {table} WHERE mood < 'happy'",
            f"SELECT id + 10000, doc, ints, texts, mood, spot, spots FROM {table} UNION ALL SELECT id + 20000, doc, ints, texts, mood, spot, spots FROM {table}",
            f"SELECT id + 10000, doc, ints, texts, mood, spot, spots FROM {table} WHERE {self.condition()} UNION ALL SELECT id - 20000, doc, ints, texts, mood, spot, spots FROM {table} WHERE id < 50",
            f"SELECT m.id + 10000, m.doc, m.ints, n.texts, m.mood, m.spot, n.spots FROM {table} m JOIN {table} n ON m.id = n.id + 1 AND n.mood > 'sad'",
            # a group of others may show another of its equal values
            f"SELECT min(id) - 10000, {'doc' if self.is_plain else 'NULL::jsonb'}, ints, texts, mood, spot, spots FROM {table} GROUP BY doc, ints, texts, mood, spot, spots",
        ))  # fmt: skip
        return f"(SELECT * FROM {table} UNION ALL {other}) AS all_rows"

    def _own_elements(self) -> tuple[str, list[str], list[str]]:
        """A function in FROM of a row's own array or document, texts of its elements, and conditions."""
        is_list, is_object = (f"CASE jsonb_typeof({value}) WHEN '{kind}' THEN {value} END" for value, kind in (("doc -> 'list'", "array"), ("doc", "object")))
        number = self.choose.choice(("0", "1", "3", "7"))
        texts = ["e", "upper(e)", "left(e, 1)", "e || mood"], ["e > 'g'", "e IS NULL", "e LIKE '%e%'", f"length(e) > {number}", "e = ANY (texts[2:3])", "e <> mood::text"]
        documents = ["e ->> 'a'", "e #>> '{}'", "jsonb_typeof(e)", "e ->> 0"], ["e ->> 'a' = '1'", "jsonb_typeof(e) = 'number'", "e ? 'a'", "e @> '1'", f"length(e #>> '{{}}') > {number}"]
        return self.choose.choice((
            ("unnest(ints) e", ["e::text", "(e % 3)::text", "(e + id)::text"], [f"e > {number}", "e IS NULL", f"e % 2 = {number}", "e < id", f"10 / e > {number}", "e = ints[1]"]),
            ("unnest(texts) e", *texts),
            ("unnest(texts) WITH ORDINALITY u (e, n)", [*texts[0], "n::text"], [*texts[1], f"n > {number}", f"n = {number}"]),
            (f"jsonb_array_elements_text({is_list}) e", *texts), (f"jsonb_object_keys({is_object}) e", *texts),
            (f"jsonb_array_elements({is_list}) e", *documents), (f"jsonb_array_elements({is_list}) WITH ORDINALITY u (e, n)", [*documents[0], "n::text"], [*documents[1], f"n <= {number}"]),
            (f"jsonb_each({is_object}) u (k, e)", [*documents[0], "k"], [*documents[1], "k > 'b'"]), (f"jsonb_each_text({is_object}) u (k, e)", [*texts[0], "k"], texts[1]),
            ("jsonb_array_elements(doc -> 'list') e", *documents), ("unnest(spots) s", ["s.name", "s.k::text", "(s.part).word"], ["s.k > 1", "s.name = 'b'", "s.name IS NULL"]),
        ))  # fmt: skip

    def _own_subquery(self) -> str:
        """A subquery over a row's own elements, as a value of type text or a condition."""
        source, texts, conditions = self._own_elements()
        value, condition = self.choose.choice(texts), self.choose.choice(conditions)
        where = self.choose.choice(("", f" WHERE {condition}", f" WHERE {condition}", f" WHERE {condition} AND {self.choose.choice(conditions)}", f" WHERE {condition} OR {self.condition()}"))
        operator, quantifier = self.choose.choice(("=", "<>", "<", ">=")), self.choose.choice(("ANY", "ALL"))
        outer = self.choose.choice((self.text(), "mood::text", "'red'", "texts[1]", "NULL::text"))
        return self.choose.choice((
            f"(SELECT count(*) FROM {source}{where})::text", f"(SELECT count({value}) FROM {source}{where})::text", f"(SELECT max({value}) FROM {source}{where})",
            f"(SELECT count(DISTINCT {value}) FROM {source}{where})::text", f"(SELECT string_agg({value}, '|') FROM {source}{where})", f"(SELECT array_agg({value}) FROM {source}{where})::text",
            f"(SELECT sum(length({value})) || '/' || count(*) FILTER (WHERE {self.choose.choice(conditions)}) FROM {source}{where})", f"(SELECT {value} FROM {source}{where} LIMIT 1)",
            f"(SELECT {value} FROM {source}{where} ORDER BY {self.choose.choice(texts)} DESC NULLS LAST, {self.choose.choice(texts)} LIMIT 1)",
            f"(SELECT {value} FROM {source}{where})", f"ARRAY(SELECT {value} FROM {source}{where})::text",
            f"ARRAY(SELECT DISTINCT {value} FROM {source}{where} ORDER BY {value})::text", f"ARRAY(SELECT {value} FROM {source}{where} ORDER BY {value} DESC)::text", f"(SELECT bool_or({condition}) FROM {source})::text",
            f"(EXISTS (SELECT FROM {source}{where}))", f"(NOT EXISTS (SELECT FROM {source}{where}))", f"({outer} {operator} {quantifier} (SELECT {value} FROM {source}{where}))",
            f"({outer} IN (SELECT {value} FROM {source}{where}))", f"({outer} NOT IN (SELECT {value} FROM {source}{where}))",
            f"(CASE WHEN {self.condition()} THEN (SELECT {value} FROM {source}{where}) END)", f"({self.condition()} OR EXISTS (SELECT FROM {source}{where}))",
            "(CASE WHEN jsonb_typeof(doc -> 'list') = 'array' THEN (SELECT max(e #>> '{}') FROM jsonb_array_elements(doc -> 'list') e) END)",
        ))  # fmt: skip

    def _joined_own_subquery(self, table: str) -> str:
        """The same, whose elements are joined with other rows, or grouped."""
        # an error of elements that the join needs not may stay unseen
        source = "doc -> 'list') e"
        while source.endswith("doc -> 'list') e"):
            source, texts, conditions = self._own_elements()
        value, condition = self.choose.choice(texts), self.choose.choice([condition for condition in conditions if "/" not in condition])
        where = self.choose.choice(("", f" WHERE {condition}"))
        others, on = self.choose.choice((
            (f"{table} d", f"d.id = length({value})"), (f"{table} d", f"d.texts[1] = {value} AND d.id < 40"), (f"(SELECT id AS k, mood AS m FROM {table} WHERE id < 20) d", f"d.k = length({value})"),
            ("(VALUES ('a'), ('e'), ('red'), (NULL)) d (k)", f"left({value}, 1) = d.k"), (f"{table} d", f"d.id = length({value}) AND d.mood = mood"), ("unnest(ints) d (k)", f"d.k = length({value})"),
        ))  # fmt: skip
        joined = f"{source} {self.choose.choice(('', '', 'LEFT '))}JOIN {others} ON {on}"
        groups = f"(SELECT {value} AS k, count(*) AS n FROM {source if self.choose.random() < 0.5 else joined}{where} GROUP BY 1)"
        part = f"(SELECT {value} AS k FROM {source}{where}) u"
        return self.choose.choice((
            f"(SELECT max(n) || '/' || count(k) FROM (SELECT k, count(*) AS n FROM {part} GROUP BY k) g)", f"(EXISTS (SELECT FROM {part}, {table} d WHERE d.texts[1] = u.k AND d.id < 40))",
            f"(SELECT count(d.id) || '/' || max(u.k) FROM {part} {self.choose.choice(('', 'LEFT '))}JOIN {table} d ON d.id = length(u.k) AND d.mood = mood)",
            f"(SELECT count(*) || '/' || coalesce(max({value}), '-') FROM {joined}{where})", f"(SELECT count(DISTINCT {value}) FROM {joined}{where})::text", f"(EXISTS (SELECT FROM {joined}{where}))",
            f"(NOT EXISTS (SELECT FROM {joined}{where}))", f"ARRAY(SELECT {value} FROM {joined}{where} ORDER BY 1)::text", f"({self.text()} IN (SELECT {value} FROM {joined}{where}))",
            f"(SELECT string_agg(k || n, ',' ORDER BY k) FROM {groups} g)", f"(SELECT max(n) || '/' || count(k) FROM {groups} g)", f"(SELECT jsonb_object_agg(k, n) FROM {groups} g WHERE k IS NOT NULL)::text",
            f"(SELECT k FROM {groups} g ORDER BY n DESC, k NULLS FIRST LIMIT 1)", f"(CASE WHEN {self.condition()} THEN (SELECT max({value}) FROM {joined}{where}) END)", f"(SELECT {value} FROM {joined}{where})",
        ))  # fmt: skip

    def _query_of_own_elements(self, table: str, where: str) -> str:
        own = self._own_subquery() if self.choose.random() < 0.6 else self._joined_own_subquery(self.table)
        other = self._own_subquery()
        source, texts, conditions = self._own_elements()
        is_condition = own.startswith(("(EXISTS", "(NOT EXISTS"))
        return self.choose.choice((
            f"SELECT id, {own} AS v FROM {table}{where}", f"SELECT id, {own} AS v, {other} AS w FROM {table}{where}", f"SELECT {own} AS v, count(*) FROM {table}{where} GROUP BY 1",
            f"SELECT id FROM {table} WHERE {own if is_condition else own + ' IS NOT NULL'}", f"SELECT id FROM {table} WHERE {own if is_condition else own + chr(62) + chr(39) + '3' + chr(39)} AND {self.condition()}",
            f"SELECT mood, count({own}), count({other}) FROM {table}{where} GROUP BY 1", f"SELECT id, v FROM {table} ORDER BY {own}::text NULLS FIRST, id LIMIT 20".replace(", v", ""),
            f"SELECT id, n, m FROM {table}, LATERAL (SELECT count(*) AS n, max({self.choose.choice(texts)}) AS m FROM {source} WHERE {self.choose.choice(conditions)}) x{where}",
            f"SELECT id, n, m FROM {table} {self.choose.choice(('LEFT', 'INNER'))} JOIN LATERAL (SELECT {self.choose.choice(texts)} AS n, {self.choose.choice(texts)} AS m FROM {source} WHERE {self.choose.choice(conditions)} ORDER BY {self.choose.choice(texts)} LIMIT 1) x ON true{where}",
            f"SELECT m, count(*), sum(n) FROM {table} LEFT JOIN LATERAL (SELECT count(*) AS n, min({self.choose.choice(texts)}) AS m FROM {source}) x ON true{where} GROUP BY 1",
            f"SELECT id, v, n FROM {table} {self.choose.choice(('LEFT', 'INNER'))} JOIN LATERAL (SELECT {self.choose.choice(texts)} AS v, count(*) AS n FROM {source} WHERE {self.choose.choice(conditions)} GROUP BY 1) x ON true{where}",
        ))  # fmt: skip

    def query(self, table: str) -> str:
        self.table = table
        table = self._rows_of(table)
        if self.choose.random() < 0.25:
            return self._query_of_own_elements(table, f" WHERE {self.condition()}" if self.choose.random() < 0.4 else "")
        where = f" WHERE {self.condition()}" if self.choose.random() < 0.4 else ""
        elements = self.choose.choice((
            "unnest(ints)", "unnest(texts)", "unnest((spot).list)", f"jsonb_array_elements_text(CASE jsonb_typeof({self.json()}) WHEN 'array' THEN '[1]'::jsonb END)",
            "jsonb_array_elements_text(CASE jsonb_typeof(doc -> 'list') WHEN 'array' THEN doc -> 'list' END)",
            "jsonb_object_keys(CASE jsonb_typeof(doc) WHEN 'object' THEN doc END)",
        ))  # fmt: skip
        # a group of these may show another of its equal values
        documents = self.choose.choice((
            "jsonb_array_elements(CASE jsonb_typeof(doc -> 'list') WHEN 'array' THEN doc -> 'list' END) AS d (v)",
            "jsonb_array_elements(CASE jsonb_typeof(doc) WHEN 'array' THEN doc END) AS d (v)",
            "jsonb_each(CASE jsonb_typeof(doc) WHEN 'object' THEN doc END) AS d (k, v)",
        ))  # fmt: skip
        value = self._scalar() if self.choose.random() < 0.7 else self._whole()
        column = self.choose.choice(("list text[]", "c integer", "c small", '"1" text', "c date", "c inner_spot"))
        made = self.choose.choice((f"coalesce({self.text()}, 'none')", f"CASE WHEN {self.condition()} THEN 'a' ELSE 'b' END", f"({self.condition()}) IS NOT TRUE", "coalesce(ints, '{7}')", "coalesce(texts[1], 'none')"))
        array = self.choose.choice(("ints", "texts", "(spot).list"))
        return self.choose.choice((
            f"SELECT {value} AS v, count(*), min(id), max({self.number()}) FROM {table}{where} GROUP BY 1",
            f"SELECT {value} AS v, {self._scalar()} AS w, count(*), sum({self.number()}) FROM {table}{where} GROUP BY 1, 2",
            f"SELECT id, {value}, {self._scalar()} FROM {table}{where}",
            f"SELECT id FROM {table} WHERE {self.condition()}", f"SELECT id FROM {table} WHERE {self.condition()} AND {self.condition()}",
            f"SELECT id FROM {table} WHERE NOT ({self.condition()}) OR {self.condition()}",
            f"SELECT count(*), count({value}), count(DISTINCT {value}), sum({self.number()}), bool_and({self.condition()}) FROM {table}{where}",
            f"SELECT max({self.text()}), min({self.text()}), avg({self.number()}) FROM {table}{where}",
            f"SELECT DISTINCT {value} FROM {table}{where}", f"SELECT id, {value} AS v FROM {table}{where} ORDER BY 2 DESC, id LIMIT 20",
            f"SELECT v, count(*), sum(id) FROM {table}, {elements} AS v{where} GROUP BY 1",
            f"SELECT id, {elements} AS v FROM {table}{where}",
            f"SELECT id, v, n FROM {table}, unnest(ints) WITH ORDINALITY AS u (v, n){where}",
            f"SELECT key, count(*) FROM {table}, jsonb_each_text(CASE jsonb_typeof(doc) WHEN 'object' THEN doc END){where} GROUP BY 1",
            f"SELECT count(*), sum(id) FROM {table}, {documents}{where} GROUP BY v", f"SELECT id, v FROM {table}, {documents}{where}",
            f"SELECT count(DISTINCT v) FROM {table}, {documents} WHERE v {self.choose.choice(('=', '<', '>='))} {self.choose.choice(('doc', chr(39) + '1' + chr(39), chr(39) + '[]' + chr(39)))}",
            f"SELECT count(*), sum(a.id), sum(b.id) FROM (SELECT id, {value} AS v FROM {table}) a JOIN (SELECT id, {value} AS v FROM {table}{where}) b USING (v) WHERE a.id < b.id",
            f"SELECT id, row_number() OVER (PARTITION BY {value} ORDER BY id), lag({self.text()}) OVER (ORDER BY id) FROM {table}{where}",
            f"SELECT mood, array_agg({value} ORDER BY id), string_agg({self.text()}, '|' ORDER BY id) FROM {table}{where} GROUP BY 1",
            f"SELECT mood, jsonb_agg({value} ORDER BY id), max(mood) FROM {table}{where} GROUP BY 1",
            f"SELECT to_jsonb(r), row_to_json(r)::text FROM {table.removesuffix(' AS all_rows')} AS r{where} ORDER BY id DESC LIMIT 9",
            f"SELECT id, x #>> '{{}}', x ->> 'a' FROM {table}, jsonb_path_query(doc, {_literal(self._json_path())}) AS x{where}",
            f"SELECT s.name, count(*), sum(s.k), max((s.part).n) FROM {table}, unnest(spots) AS s{where} GROUP BY 1",
            f"SELECT id, s.k, (s.part).word, s.code FROM {table} LEFT JOIN LATERAL unnest(spots) AS s ON true{where}",
            f"SELECT id, (unnest(spots)).code AS v FROM {table}{where}", f"SELECT s.part, s.list, count(*) FROM {table}, unnest(spots) AS s{where} GROUP BY 1, 2",
            f"SELECT id, t.* FROM {table}, jsonb_to_record(CASE jsonb_typeof(doc) WHEN 'object' THEN doc END) AS t (a text, b jsonb, {column}){where}",
            # what the subquery makes of a row is NULL where there is none
            f"SELECT a.id, s.v, s.w FROM {table.removesuffix(' AS all_rows')} AS a LEFT JOIN (SELECT id + 7 AS id, {made} AS v, {self._scalar()} AS w FROM {table}{where}) s ON s.id = a.id",
            f"SELECT s.v, count(*), sum(a.id) FROM {table.removesuffix(' AS all_rows')} AS a LEFT JOIN (SELECT id + 7 AS id, {made} AS v FROM {table}{where}) s ON s.id = a.id GROUP BY 1",
            f"SELECT s.v, count(*) FROM {table.removesuffix(' AS all_rows')} AS a LEFT JOIN (SELECT id + 7 AS id, coalesce(v::text, 'none') AS v FROM {table}, {elements} AS v{where}) s ON s.id = a.id GROUP BY 1",
            f"SELECT i, {array}[i], count(*), sum(id) FROM {table}, generate_subscripts({array}, {self.choose.choice((1, 1, 2))}) AS i{where} GROUP BY 1, 2",
            f"SELECT id, i, {array}[i] FROM {table} LEFT JOIN LATERAL generate_subscripts({array}, 1) AS i ON true{where}",
            f"SELECT v, count(*) FROM (SELECT {array}[generate_subscripts({array}, 1)] AS v FROM {table}{where}) s GROUP BY 1",
            f"SELECT a.id, a.n FROM (SELECT id, {self.number()} AS n FROM {table}) a WHERE n > (SELECT min({self.number()}) FROM {table})",
        ))  # fmt: skip
