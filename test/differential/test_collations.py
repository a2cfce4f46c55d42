"""Order and letter case of text in databases of many locales and encodings, against PostgreSQL's own."""

import random
from dataclasses import dataclass

import psycopg
import pytest

ROWS = 6000
CHANGED_ROWS = 300  # of which the heap has newer versions than the cache
QUERIES = 300
FEW_STRINGS = 40


@dataclass(frozen=True)
class Locale:
    options: str
    codec: str = "utf-8"
    has_order: bool = True  # in the engine
    has_letters: bool = True  # beyond ASCII, in the engine
    major_min: int = 15
    client_encoding: str = "UTF8"
    padded_characters: int = 8


LOCALES = {
    "en_us": Locale("ENCODING 'UTF8' LOCALE 'en_US.UTF-8'"),
    "de_de": Locale("ENCODING 'UTF8' LOCALE 'de_DE.UTF-8'"),
    "tr_tr": Locale("ENCODING 'UTF8' LOCALE 'tr_TR.UTF-8'"),
    "c_utf8": Locale("ENCODING 'UTF8' LOCALE 'C.UTF-8'"),
    "letters_only": Locale("ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'en_US.UTF-8'"),
    "order_only": Locale("ENCODING 'UTF8' LC_COLLATE 'sv_SE.UTF-8' LC_CTYPE 'C.UTF-8'"),
    "latin1": Locale("ENCODING 'LATIN1' LOCALE 'de_DE'", "latin-1"),
    "latin9": Locale("ENCODING 'LATIN9' LOCALE 'fr_FR@euro'", "iso8859-15"),
    "latin5": Locale("ENCODING 'LATIN5' LOCALE 'tr_TR'", "iso8859-9"),
    "sql_ascii": Locale("ENCODING 'SQL_ASCII' LOCALE 'en_US.UTF-8'", client_encoding="SQL_ASCII",
                        padded_characters=2),
    "icu": Locale("ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'",
                  has_order=False, has_letters=False),
    "builtin": Locale("ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C.UTF-8'",
                      has_letters=False, major_min=17),
}  # fmt: skip
QUICK_LOCALES = ("en_us", "latin5", "icu")

PARTS = [
    "a", "A", "b", "B", "c", "z", "Z", "I", "i", "ı", "İ", "ß", "ẞ", "é", "É", "e\u0301", "ä",
    "Ä", "ö", "ü", "Å", "å", "ñ", "Ñ", "ø", "Ø", "æ", "Æ", "œ", "Œ", "š", "Š", "ž", "Ÿ", "€", "ş",
    "Ş", "ğ", "Ğ", "Ⱥ", "ⱥ", "Ω", "ω", "Σ", "ς", "σ", "Џ", "џ", "ǅ", "ǆ", "日", "本", "🎉", "𐐀", "𐐨",
    "\u200d", "\u00ad", "fi", "1", "2", "10", "%", "_", "-", "'", ".", ",", ";", "(", ")", "/",
    "\\", " ", "  ", "\t",
]  # fmt: skip
WORDS = [
    "de Luge",
    "deluge",
    "co-op",
    "coop",
    "CO-OP",
    "résumé",
    "Resume",
    "straße",
    "STRASSE",
    "Istanbul",
    "ısı",
]


def encodable(strings: list[str], codec: str) -> list[str]:
    return [s for s in strings if s.encode(codec, "ignore").decode(codec) == s]


def made_strings(choose: random.Random, count: int, codec: str) -> list[str]:
    parts = encodable(PARTS, codec)
    strings = ["", "a", "x" * 700 + "b", "x" * 700 + "B", *encodable(WORDS, codec)]
    while len(strings) < count:
        strings.append("".join(choose.choice(parts) for _ in range(choose.randint(0, 12))))
    return strings


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def fill(connection: psycopg.Connection, locale: Locale) -> list[str]:
    choose = random.Random(11)
    many, few = (made_strings(choose, count, locale.codec) for count in (ROWS, FEW_STRINGS))
    connection.execute(
        "CREATE TABLE words (k integer, g integer, few text, many varchar, padded char(9), plain text)"
    )
    with connection.cursor().copy("COPY words FROM STDIN") as copy:
        for k in range(ROWS):
            text = None if k % 41 == 0 else many[k]
            plain = "".join(choose.choice("aAbBiIzZ '-_%1") for _ in range(choose.randint(0, 20)))
            copy.write_row(
                (k, k % 7, choose.choice(few), text, many[k][: locale.padded_characters], plain)
            )
    connection.execute("VACUUM ANALYZE words")
    connection.execute("SELECT penumbra.load('words')")
    connection.execute(
        f"UPDATE words SET many = reverse(many), few = upper(few) WHERE k % {ROWS // CHANGED_ROWS} = 3"
    )
    return many


class Generator:
    def __init__(self, seed: int, strings: list[str], has_order: bool, collations: list[str]):
        self.choose, self.strings, self.has_order = random.Random(seed), strings, has_order
        self.collations = collations

    def literal(self) -> str:
        return quoted(self.choose.choice(self.strings)) + "::text"

    def literals(self) -> str:
        return ", ".join(self.literal() for _ in range(self.choose.choice([1, 2, 5, 40])))

    def pattern(self) -> str:
        text = self.choose.choice(self.strings).replace("\\", "")[:6]
        pick = self.choose.choice
        text = pick([text, text.upper(), text.lower(), text[1:], text[:1]])
        return quoted(pick(["%", "", "_"]) + text + pick(["%", "%_", "", "_%"]))

    def column(self) -> str:
        column = self.choose.choice(["few", "many", "few", "many", "padded", "plain"])
        if self.choose.random() < 0.15:
            return f'({column} COLLATE "{self.choose.choice(self.collations)}")'
        return column

    def text(self) -> str:
        column = self.column()
        forms = ["{}", "{}", "lower({})", "upper({})", "initcap({})", "coalesce({}, 'x')"]
        if self.has_order:
            forms += [f"greatest({{}}, {self.literal()})", f"least({{}}, {self.literal()})"]
        return self.choose.choice(forms).format(column + ("" if column != "padded" else "::text"))

    def condition(self) -> str:
        pick = self.choose.choice
        forms = [
            f"{self.text()} = {self.literal()}", f"lower({self.column()}) = lower({self.literal()})",
            f"{self.column()} ILIKE {self.pattern()}", f"{self.column()} NOT ILIKE {self.pattern()}",
            f"upper({self.column()}) LIKE {self.pattern()}", f"{self.text()} {pick(['IN', 'NOT IN'])} ({self.literals()})",
            f"{self.text()} {pick(['= ANY', '<> ALL'])} (ARRAY[NULL, {self.literals()}])",
        ]  # fmt: skip
        if self.has_order:
            forms += [
                f"{self.text()} {pick(['<', '<=', '>', '>='])} {self.literal()}",
                f"{self.column()} {pick(['<', '<=', '>', '>='])} {self.literal()}",
                f"{self.column()} BETWEEN {self.literal()} AND {self.literal()}",
                f"padded {pick(['<', '>='])} {quoted(self.choose.choice(self.strings)[:8])}::char(9)",
                "few < many",
            ]
        return pick(forms)

    def query(self) -> str:
        pick = self.choose.choice
        where = f" WHERE {self.condition()}" if self.choose.random() < 0.6 else ""
        shapes = [
            f"SELECT count(*), sum(k) FROM words WHERE {self.condition()}",
            f"SELECT {self.text()} AS t, count(*) FROM words{where} GROUP BY 1",
            f"SELECT k, {self.text()}, {self.text()} FROM words WHERE {self.condition()}",
        ]
        if self.has_order:
            text = self.text()
            shapes += [
                f"SELECT g, min({text}), max({text}) FROM words{where} GROUP BY g",
                f"SELECT min({self.column()}), max({self.column()}) FROM words{where}",
                f"SELECT many, few, min({text}), max({text}) FROM words{where} GROUP BY many, few",
                f"SELECT k, {text} FROM words{where} ORDER BY 2 {pick(['', 'DESC', 'NULLS FIRST'])}, k"
                f" {pick(['', 'LIMIT 5', 'LIMIT 70 OFFSET 3', 'LIMIT 2500'])}",
                f"SELECT k, few, many FROM words{where} ORDER BY few {pick(['', 'DESC'])}, many, k DESC"
                f" {pick(['', 'LIMIT 100'])}",
                f"SELECT {text}, count(*) FROM words{where} GROUP BY 1 ORDER BY 1 {pick(['', 'LIMIT 9'])}",
            ]
        return pick(shapes)


def answer(connection: psycopg.Connection, mode: str, sql: str) -> list | str:
    """The rows, sorted where the query leaves their order open, or the error."""
    connection.execute("SELECT set_config('penumbra.mode', %s, false)", (mode,))
    try:
        rows = connection.execute(sql.encode()).fetchall()
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_primary} {error.diag.message_detail}"
    return rows if "ORDER BY" in sql else sorted(rows, key=repr)


def made_database(server, name: str) -> tuple[psycopg.Connection, list[str]]:
    locale = LOCALES[name]
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE collation_{name} TEMPLATE template0 {locale.options}")
    connection = server.connect(f"collation_{name}")
    connection.execute("CREATE EXTENSION penumbra")
    connection.execute(f"SET client_encoding = '{locale.client_encoding}'")
    return connection, fill(connection, locale)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK_LOCALES else pytest.mark.slow) for name in LOCALES]
)
def test_text_of_a_locale(server, name):
    locale = LOCALES[name]
    if server.installation.major < locale.major_min:
        pytest.skip(f"this provider came with PostgreSQL {locale.major_min}")
    connection, strings = made_database(server, name)
    collations = ["C"]
    if "UTF8" in locale.options and locale.has_order:
        collations += ["C.utf8", "en_US.utf8", "tr_TR.utf8", "fr_CA.utf8"]
    # Letters that the engine does not know are met while it runs; ILIKE on bytes is stock's from 19 on.
    takes_all = locale.has_letters and ("UTF8" in locale.options or server.installation.major < 19)
    mode = "require" if takes_all else "prefer"
    failures = []
    with connection:
        for seed in range(QUERIES):
            sql = Generator(seed, strings, locale.has_order, collations).query()
            expected = answer(connection, "off", sql)
            found = answer(connection, mode, sql)
            assert isinstance(expected, list), f"{sql}: {expected}"
            if expected != found:
                failures.append(
                    f"seed {seed}: {sql}\n expected {expected!s:.300}\n    found {found!s:.300}"
                )
    assert not failures, f"{len(failures)} of {QUERIES}:\n" + "\n".join(failures[:8])


def test_icu_in_the_engine_and_not(server):
    """The engine folds ASCII letters, PostgreSQL evaluates and orders what else it can for it."""
    with server.connect("collation_icu") as connection:
        connection.execute("CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        for sql in (
            "SELECT lower(plain), upper(plain), count(*) FROM words WHERE plain ILIKE '%iZ%' GROUP BY 1, 2",
            "SELECT initcap(plain), count(*) FROM words GROUP BY 1",
            'SELECT lower(plain COLLATE "tr-x-icu"), count(*) FROM words GROUP BY 1',
            "SELECT count(*) FROM words WHERE plain COLLATE any_case IN ('Red', 'BLUE')",
            "SELECT min(plain), max(plain) FROM words",
            "SELECT plain, k FROM words ORDER BY plain COLLATE any_case, k LIMIT 50",
        ):
            expected = answer(connection, "off", sql)
            assert isinstance(expected, list) and expected == answer(connection, "require", sql)
        sql = "SELECT count(*) FROM words WHERE lower(many) = 'é'"
        assert "letter case beyond ASCII" in answer(connection, "require", sql)
        assert answer(connection, "off", sql) == answer(connection, "prefer", sql)
