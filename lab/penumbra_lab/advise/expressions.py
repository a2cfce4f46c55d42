"""Expressions as EXPLAIN writes them, taken apart.

EXPLAIN writes operators with parentheses around them, casts that SQL left out, and constants with
their types. So a small grammar is enough, and what it does not know is an `Unknown`, of which
nothing is promised.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>[EeBbXx]?'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
  | (?P<parameter>\$\d+)
  | (?P<cast>::)
  | (?P<operator>[-+*/<>=~!@\#%^&|`?]+)
  | (?P<mark>[()\[\],.:])
  | (?P<word>[^\W\d][\w$]*)
  )""",
    re.VERBOSE,
)
DEPTH_MAX = 80  # of parentheses; each takes ten calls of Python's thousand
WORDS_OF_TYPES = {
    "double": ("precision",),
    "character": ("varying",),
    "bit": ("varying",),
}
TYPES_WITH_ZONE = {"time", "timestamp"}
RESERVED_AFTER = {"AND", "OR", "IS", "THEN", "ELSE", "END", "WHEN", "FROM", "FOR", "IN", "COLLATE",
                  "AT", "ORDER", "FILTER", "OVER", "WITHIN", "DESC", "ASC", "USING",
                  "NULLS"}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    def parts(self) -> tuple["Expression", ...]:
        return ()


@dataclass(frozen=True)
class Column(Expression):
    table: str  # the alias, "" where EXPLAIN names none
    name: str


@dataclass(frozen=True)
class Constant(Expression):
    text: str
    type: str


@dataclass(frozen=True)
class Parameter(Expression):
    number: int  # of the statement's $1, or of a subquery's value before PostgreSQL 17


@dataclass(frozen=True)
class Subquery(Expression):
    """The value of an InitPlan, or a correlated or hashed SubPlan."""

    name: str
    column: int | None = None  # None: its only value, or whether it finds something


@dataclass(frozen=True)
class Node(Expression):
    args: tuple[Expression, ...]

    def parts(self) -> tuple[Expression, ...]:
        return self.args


@dataclass(frozen=True)
class Cast(Node):
    type: str
    typmod: str = ""


@dataclass(frozen=True)
class Call(Node):
    schema: str
    name: str
    text: str  # as EXPLAIN writes it
    is_distinct: bool = False
    is_star: bool = False
    filter: Expression | None = None
    extra: str = ""  # what the engine has none of: ORDER BY in the call, OVER, an order of several
    direct: int | None = None  # of an ordered-set aggregate: how many args stand before the order

    def parts(self) -> tuple[Expression, ...]:
        return (*self.args, *((self.filter,) if self.filter else ()))


@dataclass(frozen=True)
class Operation(Node):
    name: str


@dataclass(frozen=True)
class ArrayTest(Node):
    """x op ANY (array), x op ALL (array)"""

    name: str
    is_any: bool


@dataclass(frozen=True)
class Form(Node):
    """What has a syntax of its own: AND, CASE, COALESCE, IS NULL, ..."""

    name: str


@dataclass(frozen=True)
class Array(Node):
    pass


@dataclass(frozen=True)
class Collate(Node):
    collation: str


@dataclass(frozen=True)
class Unknown(Expression):
    text: str


def walk(expression: Expression) -> Iterator[Expression]:
    yield expression
    for part in expression.parts():
        yield from walk(part)


class _NotUnderstood(Exception):
    pass


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    begin: int
    end: int


def parse(text: str) -> Expression:
    try:
        parser = _Parser(text)
        expression = parser.expression()
        parser.expect_end()
    except (_NotUnderstood, RecursionError):
        return Unknown(text)
    return expression


def parse_sort_key(text: str) -> Expression:
    """Without its direction; one that sorts by an operator of its own is not understood."""
    return parse(re.sub(r"( DESC)?( NULLS (FIRST|LAST))?$", "", text))


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise _NotUnderstood
        kind = match.lastgroup
        found.append(_Token(kind, match[kind], match.start(kind), match.end()))
        place = match.end()
    return found


def unquoted(identifier: str) -> str:
    return identifier[1:-1].replace('""', '"') if identifier.startswith('"') else identifier


class _Parser:
    def __init__(self, text: str):
        self._text = text
        self._tokens = _tokens(text)
        self._place = 0
        self._depth = 0

    # -- tokens ------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> _Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _next(self) -> _Token:
        token = self._peek()
        if token is None:
            raise _NotUnderstood
        self._place += 1
        return token

    def _is(self, text: str, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        return (
            token is not None
            and token.kind in ("mark", "word", "operator", "cast")
            and (token.text == text)
        )

    def _take(self, *texts: str) -> bool:
        if not all(self._is(text, ahead) for ahead, text in enumerate(texts)):
            return False
        self._place += len(texts)
        return True

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise _NotUnderstood

    def expect_end(self) -> None:
        if self._peek() is not None:
            raise _NotUnderstood

    # -- expressions -------------------------------------------------------------------------------

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise _NotUnderstood
        expression = self._logic("OR")
        self._depth -= 1
        return expression

    def _logic(self, word: str) -> Expression:
        below = (lambda: self._logic("AND")) if word == "OR" else self._negation
        args = [below()]
        while self._take(word):
            args.append(below())
        return args[0] if len(args) == 1 else Form(tuple(args), word)

    def _negation(self) -> Expression:
        if self._take("NOT"):
            return Form((self._negation(),), "NOT")
        return self._operation()

    def _operation(self) -> Expression:
        token = self._peek()
        if token is not None and token.kind == "operator":
            self._next()
            left: Expression = Operation((self._operand(),), token.text)
        else:
            left = self._operand()
        while True:
            token = self._peek()
            if token is None:
                return left
            if token.text == "=>":
                raise _NotUnderstood  # a named argument
            if token.kind == "operator":
                left = self._binary(left, self._next().text)
            elif token.text == "IS" and token.kind == "word":
                left = self._test(left)
            elif self._take("AT", "TIME", "ZONE"):
                zone = self._operand()
                left = Call((zone, left), "", "timezone", "AT TIME ZONE")
            else:
                return left

    def _binary(self, left: Expression, name: str) -> Expression:
        for word in ("ANY", "ALL"):
            if self._is(word) and self._is("(", 1):
                self._place += 2
                right = self.expression()
                self._expect(")")
                return ArrayTest((left, right), name, word == "ANY")
        return Operation((left, self._operand()), name)

    def _test(self, left: Expression) -> Expression:
        self._expect("IS")
        negated = self._take("NOT")
        if self._take("DISTINCT", "FROM"):
            return Form((left, self._operand()), "IS_NOT_DISTINCT" if negated else "IS_DISTINCT")
        for word, form in (("NULL", "NULL"), ("TRUE", "TRUE"), ("FALSE", "FALSE"),
                           ("UNKNOWN", "NULL")):  # fmt: skip
            if self._take(word):
                return Form((left,), f"IS_NOT_{form}" if negated else f"IS_{form}")
        raise _NotUnderstood

    def _operand(self) -> Expression:
        expression = self._primary()
        while True:
            if self._take("::"):
                expression = self._cast(expression)
            elif self._take("COLLATE"):
                expression = Collate((expression,), self._name()[1])
            elif self._is("["):
                raise _NotUnderstood
            else:
                return expression

    def _cast(self, arg: Expression) -> Expression:
        name, typmod = self._type()
        if isinstance(arg, Constant) and arg.type == "unknown":
            return Constant(arg.text, name)
        return Cast((arg,), name, typmod)

    def _type(self) -> tuple[str, str]:
        """The name without the modifier, and the modifier."""
        schema, word = self._name()
        name = f"{schema}.{word}" if schema else word
        for second in WORDS_OF_TYPES.get(word, ()):
            if self._take(second):
                name += f" {second}"
        typmod = ""
        if self._is("(") and self._peek(1).kind == "number":
            self._next()
            numbers = []
            while not self._take(")"):
                token = self._next()
                numbers.append(token.text)
            typmod = "".join(numbers)
        if word in TYPES_WITH_ZONE:
            for first in ("with", "without"):
                if self._take(first, "time", "zone"):
                    name += f" {first} time zone"
        while self._take("[", "]"):
            name += "[]"
        return name, typmod

    def _name(self) -> tuple[str, str]:
        """The schema or table, and the name."""
        parts = [self._identifier()]
        while self._is(".") and self._peek(1) and self._peek(1).kind in ("word", "quoted"):
            self._next()
            parts.append(self._identifier())
        if len(parts) > 2:
            raise _NotUnderstood
        return ("", *parts)[-2:] if len(parts) == 1 else tuple(parts)

    def _identifier(self) -> str:
        token = self._next()
        if token.kind not in ("word", "quoted"):
            raise _NotUnderstood
        return unquoted(token.text)

    # -- what stands alone -------------------------------------------------------------------------

    def _primary(self) -> Expression:
        token = self._next()
        if token.kind == "string":
            return Constant(token.text, "unknown")
        if token.kind == "number":
            is_integer = token.text.isdigit() and int(token.text) < 1 << 31
            return Constant(token.text, "integer" if is_integer else "numeric")
        if token.kind == "parameter":
            return Parameter(int(token.text[1:]))
        if token.text == "(" and token.kind == "mark":
            return self._parenthesis()
        if token.kind not in ("word", "quoted"):
            raise _NotUnderstood
        if token.kind == "word":
            special = self._special(token)
            if special is not None:
                return special
        self._place -= 1
        return self._reference()

    def _parenthesis(self) -> Expression:
        name = self._subquery_name()
        if name:
            return name
        expression = self.expression()
        if self._is(","):
            raise _NotUnderstood  # a row
        self._expect(")")
        if self._is("."):
            raise _NotUnderstood  # a field of a composite
        return expression

    def _subquery_name(self) -> Expression | None:
        """(SubPlan 1), (hashed SubPlan 1), (InitPlan 1).col1, (hashed SubPlan 1).col1, (ANY ...)"""
        begin = self._place
        self._take("hashed")
        token, number = self._peek(), self._peek(1)  # from 19 on a name: expr_1
        if (
            token
            and number
            and token.text in ("SubPlan", "InitPlan")
            and (number.kind in ("number", "word"))
        ):
            self._place += 2
            if self._take(")"):
                column = None
                following = self._peek(1)
                if self._is(".") and following and following.text.startswith("col"):
                    self._place += 2
                    column = int(following.text[3:] or 1) - 1
                return Subquery(f"{token.text} {number.text}", column)
        if token and token.text in ("ANY", "ALL") and self._is("(", 1):
            self._place += 2  # (ANY (x = (hashed SubPlan 1).col1)), from 17 on
            test = self.expression()
            self._expect(")")
            self._expect(")")
            return test
        self._place = begin
        return None

    def _special(self, token: _Token) -> Expression | None:
        word = token.text
        if word in ("true", "false"):
            return Constant(word, "boolean")
        if word == "NULL":
            return Constant(word, "unknown")
        if word == "CASE":
            return self._case()
        if word == "ARRAY" and self._take("["):
            return Array(self._list("]"))
        if word in ("COALESCE", "GREATEST", "LEAST", "NULLIF") and self._take("("):
            return Form(self._list(")"), word)
        if word in ("CURRENT_DATE", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP") and not self._is("("):
            kinds = {"CURRENT_DATE": "date", "LOCALTIMESTAMP": "timestamp without time zone"}
            return Constant(word, kinds.get(word, "timestamp with time zone"))
        if word in ("EXTRACT", "POSITION", "SUBSTRING", "TRIM", "OVERLAY") and self._take("("):
            return self._sql_syntax(word, token.begin)
        if word == "EXISTS" and self._take("("):
            self._place -= 1
            subquery = self._primary()
            if isinstance(subquery, Subquery):
                return subquery
        if word in ("ROW", "EXISTS", "GROUPING", "MERGE_ACTION"):
            raise _NotUnderstood
        return None

    def _list(self, end: str) -> tuple[Expression, ...]:
        if self._take(end):
            return ()
        args = [self.expression()]
        while self._take(","):
            args.append(self.expression())
        self._expect(end)
        return tuple(args)

    def _case(self) -> Expression:
        operand = None if self._is("WHEN") else self.expression()
        args: list[Expression] = []
        while self._take("WHEN"):
            test = self.expression()
            if operand is not None:
                test = Operation((operand, test), "=")
            self._expect("THEN")
            args += (test, self.expression())
        args.append(self.expression() if self._take("ELSE") else Constant("NULL", "unknown"))
        self._expect("END")
        return Form(tuple(args), "CASE")

    def _sql_syntax(self, word: str, begin: int) -> Expression:
        if word == "EXTRACT":
            field = self._next()
            self._expect("FROM")
            text = field.text.strip("'\"").lower()
            args: tuple[Expression, ...] = (Constant(text, "text"), self.expression())
            name = "extract"
        elif word == "POSITION":
            wanted = self._operand()
            self._expect("IN")
            args, name = (self._operand(), wanted), "position"
        elif word == "SUBSTRING":
            args, name = (self.expression(),), "substring"
            for part in ("FROM", "FOR"):
                if self._take(part):
                    args += (self.expression(),)
        elif word == "TRIM":
            name = next((made for side, made in (("BOTH", "btrim"), ("LEADING", "ltrim"),
                         ("TRAILING", "rtrim")) if self._take(side)), "btrim")  # fmt: skip
            first = () if self._is("FROM") else (self.expression(),)
            args = (self.expression(), *first) if self._take("FROM") else first
        else:
            raise _NotUnderstood
        self._expect(")")
        return Call(args, "", name, self._text[begin : self._tokens[self._place - 1].end])

    def _reference(self) -> Expression:
        begin = self._peek().begin
        is_partial = self._take("PARTIAL")
        schema, name = self._name()
        if self._is(".") and self._is("*", 1):
            raise _NotUnderstood  # a whole row
        if not self._take("("):
            if is_partial:
                raise _NotUnderstood
            return Column(schema, name)
        return self._call(schema, name, begin)

    def _call(self, schema: str, name: str, begin: int) -> Expression:
        is_distinct = self._take("DISTINCT")
        extra = "VARIADIC" if self._take("VARIADIC") else ""
        args: list[Expression] = []
        is_star = self._take("*")
        if not is_star and not self._is(")") and not self._is("ORDER"):
            args.append(self.expression())
            while self._take(","):
                args.append(self.expression())
        if self._take("ORDER", "BY"):
            extra = "ORDER BY in the call"
            self._skip_to_parenthesis()
        self._expect(")")
        direct = None
        if self._take("WITHIN", "GROUP", "("):
            direct = len(args)
            extra = self._order(args)
        condition = None
        if self._take("FILTER", "(", "WHERE"):
            condition = self.expression()
            self._expect(")")
        if self._take("OVER"):
            extra = "OVER"
            if self._take("("):
                self._skip_to_parenthesis()
                self._expect(")")
            else:
                self._identifier()
        text = self._text[begin : self._tokens[self._place - 1].end]
        return Call(tuple(args), schema, name, text, is_distinct, is_star, condition, extra, direct)

    def _order(self, args: list[Expression]) -> str:
        """What is ordered becomes the last argument; returns what of it the engine has not."""
        self._expect("ORDER")
        self._expect("BY")
        args.append(self.expression())
        extra = "WITHIN GROUP" if self._is(",") or self._is("USING") else ""
        self._skip_to_parenthesis()
        self._expect(")")
        return extra

    def _skip_to_parenthesis(self) -> None:
        """To the one that ends what has begun."""
        depth = 0
        while depth > 0 or not self._is(")"):
            token = self._next()
            depth += (token.text == "(") - (token.text == ")")
