"""What may be chosen: layers that decide most of the gain, then groups of flags.

Flags that weaken a hardened build (stack protector, PIE, control-flow protection, relro) are no
choices: speed may not be bought with safety that nobody gave up. Flags that change what a program
means are refused wherever they come from.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace

from penumbra_lab.errors import LabError

# PostgreSQL counts on wrapping overflow, on aliasing and on IEEE arithmetic; the last lines are of
# hardening, of code that other machines cannot run, and of what makes two builds differ.
FORBIDDEN = re.compile(
    r"-f(no-wrapv|strict-overflow|trapv|strict-aliasing|fast-math|unsafe-math.*|associative-math"
    r"|reciprocal-math|finite-math-only|no-signed-zeros|no-trapping-math|single-precision-constant"
    r"|excess-precision=fast|cx-(limited-range|fortran-rules)|allow-store-data-races|short-enums"
    r"|short-wchar|pack-struct.*|no-delete-null-pointer-checks|delete-null-pointer-checks"
    r"|no-(math-)?errno.*|no-stack-protector|cf-protection=none|no-pie|no-pic|profile-.*"
    r"|plugin.*|sanitize.*)"
    r"|-Ofast|-no-pie|-m(arch|tune|cpu)=native|-mno-.*|-D.*|-U.*|-Wl,.*norelro.*|-Wl,-z,execstack"
)  # fmt: skip


def check_flags(flags: tuple[str, ...]) -> None:
    for flag in flags:
        if FORBIDDEN.fullmatch(flag):
            raise LabError(f"flag {flag} is never tried: it changes what the program means, or"
                           " weakens its hardening")  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """All that decides a build, beside the project itself."""

    compiler: str
    flags: tuple[str, ...] = ()
    profile: bool = False  # compiled with a profile of the workload
    layout: bool = False  # laid out anew by BOLT after linking

    def __post_init__(self) -> None:
        check_flags(self.flags)

    def key(self, identity: str) -> str:
        """The same for the same build of the same project."""
        text = json.dumps([identity, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def adding(self, *flags: str) -> "Recipe":
        return replace(self, flags=(*self.flags, *flags))

    def describe(self) -> str:
        parts = [self.compiler, *self.flags]
        return " ".join(parts + ["+ profile"] * self.profile + ["+ BOLT"] * self.layout)


@dataclass(frozen=True)
class Layer:
    """One step; its options are tried on the best that came before, and the best of them stays."""

    name: str
    options: tuple[tuple[str, dict], ...]  # a label, and the fields of Recipe that it changes
    is_counted: bool = True  # whether callgrind can see what it does

    def recipes(self, base: Recipe) -> list[tuple[str, Recipe]]:
        """`flags` are added to those of the base, everything else replaces."""
        found = []
        for label, changes in self.options:
            added = changes.get("flags", ())
            found.append((label, replace(base, **{**changes, "flags": (*base.flags, *added)})))
        return found


@dataclass(frozen=True)
class Parameter:
    """One flag and its choices; none of them is the compiler's own choice."""

    group: str
    choices: tuple[str, ...]
    about: str

    @property
    def name(self) -> str:
        """What the choices share: "-falign-loops" of -falign-loops=16 and -falign-loops=32."""
        return re.sub(r"(?<=[a-z])=[\w,]+$", "", self.choices[0])

    @property
    def values(self) -> tuple[str, ...]:
        return ("", *self.choices)


# Of each parameter the number of its value; 0 is the compiler's own choice.
Point = tuple[int, ...]


@dataclass(frozen=True)
class Space:
    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        for parameter in self.parameters:
            check_flags(parameter.choices)

    @property
    def origin(self) -> Point:
        return (0,) * len(self.parameters)

    @property
    def groups(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, parameter in enumerate(self.parameters):
            found.setdefault(parameter.group, []).append(number)
        return found

    def flags(self, point: Point) -> tuple[str, ...]:
        chosen = (p.values[value] for p, value in zip(self.parameters, point, strict=True))
        return tuple(flag for flag in chosen if flag)

    def parameter_of(self, flag: str) -> Parameter | None:
        return next(
            (p for p in self.parameters if flag == p.name or flag in p.choices), None
        )  # fmt: skip


def changed(point: Point) -> list[int]:
    return [number for number, value in enumerate(point) if value]


def with_value(point: Point, number: int, value: int) -> Point:
    return (*point[:number], value, *point[number + 1 :])
