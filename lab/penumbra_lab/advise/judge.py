"""Whether the engine takes an expression, and if not, which part of it stands in the way.

The types of some expressions are not known exactly, such as those of a subquery's columns: then
they are a set, and the engine must take every function that the set allows. So nothing is promised
that depends on a guess.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from penumbra_lab.advise.catalog import (
    ENUM,
    FIRST_USER_OID,
    OTHER,
    Catalog,
    Function,
    Operator,
    Type,
)
from penumbra_lab.advise.engine import ANY_FIELD, Engine
from penumbra_lab.advise.expressions import (
    Array,
    ArrayTest,
    Call,
    Cast,
    Collate,
    Column,
    Constant,
    Expression,
    Form,
    Node,
    Operation,
    Parameter,
    Subquery,
    Unknown,
    walk,
)

CAST = "CAST"
# Casts by input and output, where no setting enters.
WRITTEN_AS_TEXT = {"smallint", "integer", "bigint", "numeric", "uuid"}
READ_FROM_TEXT = {"smallint", "integer", "bigint", "numeric", "real", "double precision",
                  "boolean", "uuid", "date", "timestamp", "timestamptz"}  # fmt: skip
CUT_TO_LENGTH = {"numeric", "text", "character"}
# Of alternatives that are no list of constants.
ALTERNATIVES_MAX = 64
WINDOW_FUNCTIONS = {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag",
                    "lead", "first_value", "last_value", "nth_value"}  # fmt: skip
# Pseudo-types of the engine's types that some names stand for.
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
KIND_PSEUDO_TYPES = {"anyenum": re.compile(ENUM), "anyrange": re.compile(r"(?!.*multi)\w+range"),
                     "anymultirange": re.compile(r"\w+multirange")}  # fmt: skip
ANY_PSEUDO_TYPES = {'"any"', "anyelement", "anycompatible", "anynonarray", *KIND_PSEUDO_TYPES}
ARRAY_PSEUDO_TYPES = {"anyarray", "anycompatiblearray"}
Types = frozenset[int]
NO_TYPES: Types = frozenset()


@dataclass(frozen=True)
class Blocker:
    """What keeps a query, or a part of it, with PostgreSQL."""

    reason: str
    text: str = ""  # the expression, as EXPLAIN writes it
    name: str = ""  # of the function, where it can be found in the statement


@dataclass(frozen=True)
class Judged:
    types: Types  # empty where nothing is known
    blockers: tuple[Blocker, ...] = ()


@dataclass(frozen=True)
class Scope:
    """What stands for the names in a plan."""

    column: Callable[[Column], Types]
    collation: Callable[[Column], int]
    parameter: Callable[[Parameter], Types]
    subquery: Callable[[Subquery], Types]
    repeats: Callable[[Sequence[Column]], bool]  # whether rows have the same values of these


class Judge:
    def __init__(self, catalog: Catalog, scope: Scope):
        self._engine: Engine = catalog.engine
        self._catalog = catalog
        self._scope = scope
        self._known: dict[Expression, Judged] = {}

    def judge(self, expression: Expression) -> Judged:
        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = self._judge(expression)
        return found

    def engine_types(self, expression: Expression) -> set[str | None]:
        return {self._type(oid).engine for oid in self.judge(expression).types}

    def calls_volatile(self, expression: Expression) -> bool:
        return any(
            function.is_volatile
            for part in walk(expression)
            if isinstance(part, Call)
            for function in self._catalog.functions(part.schema, part.name)
        )

    def _judge(self, expression: Expression) -> Judged:
        match expression:
            case Column():
                return self._column(expression)
            case Constant():
                return self._constant(expression)
            case Parameter():
                return Judged(self._scope.parameter(expression))
            case Subquery():
                return Judged(self._scope.subquery(expression))
            case Unknown():
                return Judged(NO_TYPES, (Blocker("expression of a kind that is not judged",
                                                 expression.text),))  # fmt: skip
        judged = self._judge_node(expression)
        if not judged.blockers or not self._has_type(judged):
            return judged
        is_left = (
            self._is_evaluated_once(expression)
            or self.is_cached(expression)
            or self._is_evaluated_on_demand(expression)
        )
        return Judged(judged.types) if is_left else judged

    def _judge_node(self, expression: Expression) -> Judged:
        match expression:
            case Cast():
                return self._cast(expression)
            case Call():
                return self._call(expression)
            case Operation():
                return self._operation(expression)
            case ArrayTest():
                return self._array_test(expression)
            case Form():
                return self._form(expression)
            case Collate():
                return self.judge(expression.args[0])
            case Array():
                parts = [self.judge(arg) for arg in expression.args]
                return Judged(NO_TYPES, _blockers(parts) or (Blocker("array"),))
        raise AssertionError(expression)

    def _is_evaluated_once(self, expression: Expression) -> bool:
        """By PostgreSQL, when the node starts: the engine gets the value."""
        return not self.calls_volatile(expression) and not any(
            isinstance(part, Column | Unknown)
            or (isinstance(part, Subquery) and not part.name.startswith("InitPlan"))
            or (isinstance(part, Call) and (part.extra or part.is_star or self._aggregates(part)))
            for part in walk(expression)
        )

    def is_cached(self, expression: Expression) -> bool:
        """As a column of its own: what is inside of a document or an array."""
        parts = list(walk(expression))
        tables = {part.table for part in parts if isinstance(part, Column)}
        return len(tables) == 1 and all(self._is_inside(part) for part in parts)

    def _is_inside(self, part: Expression) -> bool:
        match part:
            case Column() | Constant():
                return True
            case Operation():
                found = self._operators(part, [self.judge(arg) for arg in part.args])
                functions = {operator.function for operator in found}
            case Call():
                found = self._candidates(part, [self.judge(arg) for arg in part.args])
                functions = {function.oid for function in found}
            case ArrayTest():
                elements = {self._type(oid).element for oid in self.judge(part.args[1]).types}
                return part.name == ("=" if part.is_any else "<>") and all(
                    self._type(oid).engine for oid in elements
                )
            case _:
                return False
        return bool(functions) and functions <= self._engine.inside

    def _is_evaluated_on_demand(self, expression: Expression) -> bool:
        """By PostgreSQL, once for arguments that the engine knows and that repeat."""
        if not isinstance(expression, Call | Operation | Cast) or self.calls_volatile(expression):
            return False
        if isinstance(expression, Call) and (
            expression.extra or expression.is_star or expression.filter
        ):
            return False
        if any(isinstance(part, Call) and (self._aggregates(part) or self._returns_set(part))
               for part in walk(expression)):  # fmt: skip
            return False
        columns = [part for part in walk(expression) if isinstance(part, Column)]
        inputs = [self.judge(part) for part in walk(expression)
                  if isinstance(part, Column | Subquery | Unknown)]  # fmt: skip
        return not _blockers(inputs) and self._scope.repeats(columns)

    def _returns_set(self, call: Call) -> bool:
        return any(function.returns_set
                   for function in self._catalog.functions(call.schema, call.name))  # fmt: skip

    def _has_type(self, judged: Judged) -> bool:
        return bool(judged.types) and all(self._type(oid).engine for oid in judged.types)

    # -- leaves ------------------------------------------------------------------------------------

    def _type(self, oid: int) -> Type:
        return self._catalog.type(oid)

    def _column(self, column: Column) -> Judged:
        types = self._scope.column(column)
        blockers = [
            Blocker(f"column of type {self._type(oid).name}", f"{column.table}.{column.name}",
                    column.name)
            for oid in types if self._type(oid).engine is None
        ]  # fmt: skip
        return Judged(types, tuple(blockers))

    def _constant(self, constant: Constant) -> Judged:
        if constant.type == "unknown":
            return Judged(NO_TYPES)
        known = self._catalog.type_named(constant.type)
        if known is None:
            return Judged(NO_TYPES, (Blocker(f"type {constant.type}", constant.text),))
        if known.engine is None and not known.element and constant.text != "NULL":
            return Judged(
                frozenset({known.oid}), (Blocker(f"type {constant.type}", constant.text),)
            )
        return Judged(frozenset({known.oid}))

    # -- functions ---------------------------------------------------------------------------------

    def _engine_names(self, oids: Sequence[int]) -> list[str | None]:
        return [self._type(oid).engine for oid in oids]

    def _collations(self, args: Sequence[Expression]) -> set[int]:
        found = set()
        for part in chain.from_iterable(map(walk, args)):
            if isinstance(part, Column):
                found.add(self._scope.collation(part))
            elif isinstance(part, Collate):
                found.add(self._catalog.collation_named(part.collation))
        return (found - {0}) or {self._catalog.default_collation}

    def collation_blockers(self, use: str | None, args: Sequence[Expression]) -> tuple:
        judged = [self.judge(arg) for arg in args]
        kinds = [self._type(oid) for one in judged for oid in one.types]
        if use is None or not any(kind.is_text or kind.is_citext for kind in kinds):
            return ()
        refusals = (self._catalog.collation_refusal(oid, use) for oid in self._collations(args))
        return tuple(Blocker(refusal) for refusal in refusals if refusal)

    def order_blockers(self, expression: Expression) -> tuple[Blocker, ...]:
        """Of a sort key."""
        judged = self.judge(expression)
        others = (self._type(oid) for oid in judged.types if self._type(oid).engine == OTHER)
        unknown = tuple(Blocker(f"order of {kind.name}") for kind in others if not kind.is_citext)
        return judged.blockers + unknown + self.collation_blockers("ORDER", [expression])

    def _use(self, function: str | None) -> str | None:
        return self._engine.collation_uses.get(function) if function else None

    def _operation(self, operation: Operation) -> Judged:
        parts = [self.judge(arg) for arg in operation.args]
        below = _blockers(parts)
        given = [part.types for part in parts]
        candidates = self._operators(operation, parts)
        result = frozenset(operator.result for operator in candidates)
        for operator in candidates:
            args = [operator.left] * (len(parts) == 2) + [operator.right]
            args = [self._resolved(oid, types) for oid, types in zip(args, given, strict=True)]
            if self._is_comparison_of_citext(operation, args):
                below += self.collation_blockers("ORDER", operation.args)
            elif not self._takes(operator.function, args, operator.result):
                types = ", ".join(self._type(oid).name for oid in args)
                reason = f"operator {operation.name} of {types}"
                return Judged(result, (*below, Blocker(reason, "", operation.name)))
        if not candidates:
            reason = f"operator {operation.name} of types that are not known"
            return Judged(result, below or (Blocker(reason, "", operation.name),))
        names = {self._engine.function_of(operator.function) for operator in candidates}
        below += self._pattern_blockers(names, operation)
        uses = {self._use(name) for name in names}
        collation = tuple(chain.from_iterable(
            self.collation_blockers(use, operation.args) for use in uses))  # fmt: skip
        return Judged(result, below + collation)

    def _is_comparison_of_citext(self, operation: Operation, args: Sequence[int]) -> bool:
        return operation.name in COMPARISONS and all(self._type(oid).is_citext for oid in args)

    def _operators(self, operation: Operation, parts: Sequence[Judged]) -> list[Operator]:
        given = [part.types for part in parts]
        left = given[0] if len(given) == 2 else NO_TYPES
        fitting = [
            operator
            for operator in self._catalog.operators(operation.name)
            if self._fits(operator.left, left, len(given) == 2)
            and self._fits(operator.right, given[-1])
        ]
        exact = [operator for operator in fitting
                 if [{operator.left}, {operator.right}][-len(given) :] == given]  # fmt: skip
        return exact or fitting

    def _fits(self, wanted: int, given: Types, is_there: bool = True) -> bool:
        """An argument whose type is not known may have any."""
        if not is_there:
            return wanted == 0
        if not given or wanted in given:
            return True
        kind = KIND_PSEUDO_TYPES.get(self._type(wanted).name)
        if kind:
            return any(kind.fullmatch(self._type(oid).engine or "") for oid in given)
        if self._type(wanted).name in ANY_PSEUDO_TYPES:
            return True
        if self._type(wanted).name in ARRAY_PSEUDO_TYPES:
            return any(self._type(oid).element for oid in given)
        # Where a call is written with words (SUBSTRING(x FROM 1)), EXPLAIN leaves casts out.
        is_text = self._type(wanted).engine == "text"
        return any(self._base(oid) == wanted or (is_text and self._type(oid).is_text)
                   for oid in given)  # fmt: skip

    def _resolved(self, wanted: int, given: Types) -> int:
        """The type that an argument of a pseudo-type has, if it is known."""
        is_known = self._type(wanted).name in ANY_PSEUDO_TYPES and len(given) == 1
        return next(iter(given)) if is_known else wanted

    def _base(self, oid: int) -> int:
        """Of a domain, the type that a function takes it for."""
        known = self._type(oid)
        if not known.is_domain or known.engine is None:
            return oid
        base = self._catalog.type_named(known.engine)
        return base.oid if base else oid

    def _takes(self, function: int, args: Sequence[int], result: int) -> bool:
        return self._engine.takes_function(
            function, self._engine_names(args), self._type(result).engine
        )

    def _candidates(self, call: Call, parts: Sequence[Judged]) -> list[Function]:
        fitting = [
            function
            for function in self._catalog.functions(call.schema, call.name)
            if len(function.args) == len(parts)
            and all(self._fits(wanted, part.types)
                    for wanted, part in zip(function.args, parts, strict=True))
        ]  # fmt: skip
        given = [part.types for part in parts]
        exact = [one for one in fitting if [{wanted} for wanted in one.args] == given]
        return exact or fitting

    def inputs_of_shown(self, expression: Expression) -> Iterator[Expression]:
        """What PostgreSQL computes an expression of the select list from, itself."""
        is_whole = not self.judge(expression).blockers or (
            isinstance(expression, Call)
            and (expression.extra or self._aggregates(expression) or self._returns_set(expression))
        )
        if isinstance(expression, Node) and not is_whole:
            for part in expression.parts():
                yield from self.inputs_of_shown(part)
        elif not isinstance(expression, Constant):
            yield expression

    def _aggregates(self, call: Call) -> bool:
        return any(function.kind in "aw"
                   for function in self._catalog.functions(call.schema, call.name))  # fmt: skip

    def _call(self, call: Call) -> Judged:
        parts = [self.judge(arg) for arg in call.args]
        below = _blockers(parts)
        if call.filter is not None:
            below += self.judge(call.filter).blockers
        candidates = self._candidates(call, parts)
        result = frozenset(self._result(function, parts) for function in candidates) - {0}
        kinds = {function.kind for function in candidates} or {"f"}
        if call.extra == "OVER":
            return Judged(result, below + self._window_blockers(call, candidates, parts))
        if "a" in kinds:
            return Judged(result, below + self._aggregate_blockers(call, candidates, parts))
        blocker = Blocker(f"function {call.name}", call.text, call.name)
        if not candidates or call.extra:
            return Judged(result, (*below, blocker))
        for function in candidates:
            if function.returns_set:
                return Judged(result, (*below, Blocker(f"function {call.name}, which returns rows",
                                                       call.text, call.name)))  # fmt: skip
            if not self._takes_call(call, function, parts):
                return Judged(result, (*below, blocker))
        names = {self._engine.function_of(function.oid) for function in candidates}
        below += self._pattern_blockers(names, call)
        collation = tuple(chain.from_iterable(
            self.collation_blockers(self._use(name), call.args) for name in names
        ))  # fmt: skip
        return Judged(result, below + collation)

    def _pattern_blockers(
        self, names: set[str | None], expression: Operation | Call
    ) -> tuple[Blocker, ...]:
        """PostgreSQL compiles a regular expression when a query starts."""
        is_pattern = any(name and name.startswith("REGEX_") for name in names)
        if not is_pattern or self._is_evaluated_once(expression.args[1]):
            return ()
        return (Blocker("regular expression that is not constant", "", expression.name),)

    def _result(self, function: Function, parts: Sequence[Judged]) -> int:
        if self._type(function.result).name not in ANY_PSEUDO_TYPES:
            return function.result
        return next((next(iter(part.types)) for part in parts if len(part.types) == 1), 0)

    def _takes_call(self, call: Call, function: Function, parts: Sequence[Judged]) -> bool:
        name = self._engine.function_of(function.oid)
        if name is None:
            return False
        if name == "INITCAP" and self.collation_blockers("LETTERS", call.args):
            return False
        if self._engine.has_format(function.oid):
            form = call.args[1]
            known = isinstance(form, Constant) and self._engine.knows_format(name, form.text)
            return known and self._takes(function.oid, function.args, function.result)
        if self._engine.has_fields(name):
            first = call.args[0]
            field = first.text.strip("'").lower() if isinstance(first, Constant) else None
            if isinstance(first, Parameter):
                field = ANY_FIELD
            return field is not None and self._engine.knows_field(
                name, self._type(function.args[1]).engine, field
            )
        return self._takes(function.oid, function.args, function.result)

    def _window_blockers(self, call: Call, candidates: Sequence[Function],
                         parts: Sequence[Judged]) -> tuple[Blocker, ...]:  # fmt: skip
        """Of frames, which EXPLAIN does not show before version 18, all are taken to run."""
        blocker = Blocker(f"window function {call.name}", call.text, call.name)
        if any(function.oid >= FIRST_USER_OID for function in candidates):
            return (blocker,)
        if call.name in WINDOW_FUNCTIONS:
            counts = call.args if call.name == "ntile" else call.args[1:2]
            return () if all(isinstance(count, Constant) for count in counts) else (blocker,)
        adds_reals = call.name == "sum" and "real" in self.engine_types(call.args[0])
        if call.is_distinct or adds_reals or not candidates:
            return (blocker,)
        return self._aggregate_blockers(dataclasses.replace(call, extra=""), candidates, parts)

    def _is_extreme_of_citext(self, call: Call, candidates: Sequence[Function]) -> bool:
        kinds = [self._type(oid) for function in candidates for oid in function.args]
        return (
            call.name in ("min", "max") and not call.extra and not call.is_distinct
            and bool(kinds) and all(kind.is_citext for kind in kinds)
        )  # fmt: skip

    def _aggregate_blockers(self, call: Call, candidates: Sequence[Function],
                            parts: Sequence[Judged]) -> tuple[Blocker, ...]:  # fmt: skip
        blocker = Blocker(f"aggregate {call.name}", call.text, call.name)
        if self._is_extreme_of_citext(call, candidates):
            return self.collation_blockers("ORDER", call.args)
        if call.extra or any(function.oid >= FIRST_USER_OID for function in candidates):
            return (blocker,)
        name = "count(*)" if call.is_star else call.name
        direct = call.direct or 0
        if any(isinstance(part, Column) for arg in call.args[:direct] for part in walk(arg)):
            return (blocker,)
        for function in candidates:
            if any(self._type(oid).engine != "double precision" for oid in function.args[:direct]):
                return (blocker,)
            result = self._type(self._result(function, parts)).engine
            given = [
                self._engine_names(part.types if self._type(wanted).name in ANY_PSEUDO_TYPES
                                   else [wanted])
                for wanted, part in list(zip(function.args, parts, strict=True))[direct:]
            ]  # fmt: skip
            if any(not names for names in given) or not all(
                self._engine.takes_aggregate(name, args, result) for args in _products(given)
            ):
                return (blocker,)
        if call.is_distinct:
            collation = self.collation_blockers("EQUALITY", call.args)
        elif call.name in ("min", "max") or call.direct is not None:
            collation = self.collation_blockers("ORDER", call.args[direct:])
        else:
            collation = ()
        return collation

    # -- casts -------------------------------------------------------------------------------------

    def _cast(self, cast: Cast) -> Judged:
        part = self.judge(cast.args[0])
        target = self._catalog.type_named(cast.type)
        if target is None:
            return Judged(NO_TYPES, (Blocker(f"type {cast.type}", cast.type),))
        types = frozenset({target.oid})
        blocker = Blocker(f"cast to {target.name}", "", target.name)
        if target.is_domain or target.engine is None:
            return Judged(types, (*part.blockers, blocker))
        if cast.typmod and target.engine not in CUT_TO_LENGTH:
            return Judged(types, (*part.blockers, blocker))
        if part.blockers:
            return Judged(types, part.blockers)
        if isinstance(cast.args[0], Parameter) and not part.types:
            return Judged(types)
        is_taken = bool(part.types) and all(self._casts(oid, target) for oid in part.types)
        return Judged(types, () if is_taken else (blocker,))

    def _casts(self, source_oid: int, target: Type) -> bool:
        source = self._type(source_oid)
        if source.engine is None or target.engine is None:
            return False
        if OTHER in (source.engine, target.engine):
            return source_oid == target.oid or (
                source.is_citext and (target.is_citext or target.engine == "text")
            )
        if source.engine == target.engine:
            return True
        function, method = self._catalog.casts.get((self._base(source_oid), target.oid), (0, "i"))
        if method == "f":
            return self._takes(function, [self._base(source_oid)], target.oid)
        if method == "b":
            return target.engine == "character"
        if source.engine in ("text", "character"):
            return target.engine == "text" or target.engine in READ_FROM_TEXT
        return target.engine == "text" and source.engine in WRITTEN_AS_TEXT

    # -- forms -------------------------------------------------------------------------------------

    def _array_test(self, test: ArrayTest) -> Judged:
        scalar, array = test.args
        judged = self.judge(scalar)
        boolean = self._catalog.type_named("boolean")
        types = frozenset({boolean.oid}) if boolean else NO_TYPES
        if judged.blockers:
            return Judged(types, judged.blockers)
        if isinstance(array, Array):
            if len(array.args) > ALTERNATIVES_MAX and not all(
                isinstance(arg, Constant | Parameter) for arg in array.args
            ):
                return Judged(types, (Blocker("long list of alternatives"),))
            parts = [self.judge(Operation((scalar, arg), test.name)) for arg in array.args]
            return Judged(types, _blockers(parts))
        elements = self._elements(array)
        if not elements:
            return Judged(types, (Blocker("array that is not constant"),))
        candidates = [
            operator for operator in self._catalog.operators(test.name)
            if self._fits(operator.left, judged.types) and self._fits(operator.right, elements)
        ]  # fmt: skip
        is_list = test.name == ("=" if test.is_any else "<>")
        for operator in candidates:
            args = [self._resolved(operator.left, judged.types),
                    self._resolved(operator.right, elements)]  # fmt: skip
            if not self._takes(operator.function, args, operator.result):
                break
        else:
            if candidates and (is_list or _is_short(array)):
                use = "EQUALITY" if is_list else "ORDER"
                return Judged(types, self.collation_blockers(use, [scalar]))
        return Judged(types, (Blocker(f"operator {test.name} with an array", "", test.name),))

    def _elements(self, array: Expression) -> Types:
        """The types of the elements of an array whose value is known when a query starts."""
        if not self._is_evaluated_once(array):
            return NO_TYPES
        judged = self.judge(array)
        elements = {self._type(oid).element for oid in judged.types} - {0}
        return frozenset(oid for oid in elements if self._type(oid).engine)

    def _form(self, form: Form) -> Judged:
        parts = [self.judge(arg) for arg in form.args]
        below = _blockers(parts)
        boolean = self._catalog.type_named("boolean")
        types = frozenset({boolean.oid}) if boolean else NO_TYPES
        if form.name in ("AND", "OR", "NOT") or form.name.startswith("IS_"):
            if form.name in ("IS_DISTINCT", "IS_NOT_DISTINCT"):
                equality = self.judge(Operation(form.args, "="))
                return Judged(types, equality.blockers)
            return Judged(types, below)
        values = parts[1::2] + [parts[-1]] if form.name == "CASE" else parts
        if form.name == "NULLIF":
            below += self.judge(Operation(form.args, "=")).blockers
            values = parts[:1]
        known = frozenset().union(*(part.types for part in values))
        if form.name in ("GREATEST", "LEAST"):
            below += self.collation_blockers("ORDER", form.args)
        if not below and not self._has_type(Judged(known)):
            below = (Blocker(f"{form.name} of types that are not known", "", form.name),)
        return Judged(known, below)


def _blockers(parts: Sequence[Judged]) -> tuple[Blocker, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(part.blockers for part in parts)))


def _is_short(array: Expression) -> bool:
    """Of one whose elements are compared one by one."""
    return isinstance(array, Constant) and array.text.count(",") < ALTERNATIVES_MAX


def _products(lists: Sequence[Sequence]) -> list[list]:
    made: list[list] = [[]]
    for choices in lists:
        made = [[*begun, choice] for begun in made for choice in choices]
    return made
