"""The search of `penumbra tune` on costs whose best is known."""

import functools
import math
import statistics

import numpy as np
import pytest

from penumbra_lab.errors import LabError
from penumbra_lab.tune.catalog import accepts, compiler_help, flag_space
from penumbra_lab.tune.search import (
    SEARCHERS,
    Trial,
    best_of,
    best_so_far,
    minimise,
    search,
)
from penumbra_lab.tune.space import Parameter, Recipe, Space, changed, with_value

EVALUATIONS = 120
SEEDS = (1, 2)


class Synthetic:
    """12 groups of 5 flags. Seven flags matter, one of them only beside another of its group (as
    a limit matters to what it limits); one breaks the build, four harm, the others do next to
    nothing: about what a compiler does to a program."""

    def __init__(self):
        self.space = Space(tuple(
            Parameter(f"group {group}", tuple(f"-f{group}-{flag}={v}" for v in range(1, 3)), "")
            for group in range(12) for flag in range(5)
        ))  # fmt: skip
        self.good = {0: (1, 0.05), 1: (2, 0.03), 11: (1, 0.03), 27: (1, 0.02), 43: (2, 0.02)}
        self.opening, self.opened = (30, 1, 0.01), (31, 2, 0.03)
        self.bad = {5: 0.03, 17: 0.05, 38: 0.02, 52: 0.04}
        self.broken = (58, 2)
        self.evaluated = 0

    @property
    def best_cost(self) -> float:
        gains = (*self.good.values(), self.opening, self.opened)
        return 100 * math.prod(1 - gain for *_, gain in gains)

    def cost(self, point) -> float | None:
        self.evaluated += 1
        number, value = self.broken
        if point[number] == value:
            return None
        cost = 100.0
        for number, (value, gain) in self.good.items():
            cost *= 1 - gain * (point[number] == value)
        (first, one, gain), (second, other, more) = self.opening, self.opened
        if point[first] == one:
            cost *= (1 - gain) * (1 - more * (point[second] == other))
        for number, loss in self.bad.items():
            cost *= 1 + loss * (point[number] != 0)
        # Every other flag changes the code a little, too.
        return cost * (1 + 1e-5 * sum(value for value in point))

    def evaluate(self, points):
        return [self.cost(point) for point in points]


@functools.cache
def _search(kind: str, seed: int):
    problem = Synthetic()
    return problem, search(SEARCHERS[kind](problem.space, seed), problem.evaluate, EVALUATIONS)


@pytest.mark.slow
def test_group_mutation_finds_the_known_best_and_the_others_do_not():
    found = {}
    for kind in SEARCHERS:
        runs = [_search(kind, seed) for seed in SEEDS]
        assert all(len(trials) <= EVALUATIONS for _, trials in runs)
        found[kind] = [best_of(trials).cost / problem.best_cost - 1 for problem, trials in runs]
    # Within half a percent of the best, which leaving flags out then makes up for.
    assert max(found["group"]) < 0.005, found
    assert min(found["random"]) > 0.05, found
    assert statistics.mean(found["group"]) < statistics.mean(found["tpe"]), found


@pytest.mark.slow
def test_the_smallest_set_is_the_flags_that_matter():
    problem, trials = _search("group", 1)
    before = problem.evaluated
    result = minimise(best_of(trials), problem.evaluate)
    wanted = {*problem.good, problem.opening[0], problem.opened[0]}
    assert set(changed(result.point)) <= wanted
    assert result.cost <= problem.best_cost * (1 + 2 * 0.005)
    assert problem.evaluated - before <= 2 * len(changed(best_of(trials).point))
    # What each is worth: the strongest is worth what it was made to be.
    assert result.losses[0] == pytest.approx(1 / 0.95 - 1, rel=0.01)


def test_leaving_out_a_harmful_flag_lowers_the_bound():
    problem = Synthetic()
    point = with_value(with_value(problem.space.origin, 0, 1), 17, 1)
    result = minimise(Trial(point, problem.cost(point)), problem.evaluate)
    assert changed(result.point) == [0]
    assert result.losses[17] == pytest.approx(1 / 1.05 - 1, abs=1e-4)


def test_a_flag_without_which_nothing_builds_stays():
    space = Synthetic().space
    point = with_value(with_value(space.origin, 3, 1), 4, 1)
    result = minimise(Trial(point, 1.0), lambda points: [1.0 if p[3] else None for p in points])
    assert changed(result.point) == [3]
    assert result.losses == {3: None, 4: 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEARCHERS)
def test_a_search_repeats_itself(kind):
    """The journal of an interrupted run answers the same questions."""
    problem = Synthetic()
    first, second = (
        search(SEARCHERS[kind](problem.space, 7), problem.evaluate, 24, batch=2) for _ in range(2)
    )
    assert first == second


def test_it_stops_where_nothing_is_to_be_gained():
    space = Synthetic().space
    searcher = SEARCHERS["group"](space, 1)
    trials = search(searcher, lambda points: [100.0] * len(points), EVALUATIONS)
    assert len(trials) < 40


def test_a_space_that_is_used_up_ends_the_search():
    space = Space((Parameter("only", ("-fone",), ""),))
    searcher = SEARCHERS["group"](space, 1)
    trials = search(searcher, lambda points: [1.0 - p[0] / 2 for p in points], EVALUATIONS)
    assert best_of(trials).cost == 0.5
    assert len(trials) < EVALUATIONS


def test_nothing_feasible_is_no_best():
    space = Synthetic().space
    trials = search(SEARCHERS["group"](space, 1), lambda points: [None] * len(points), 20)
    assert len(trials) == 20
    assert best_of(trials) is None
    assert best_so_far(trials) == [math.inf] * 20


@pytest.mark.parametrize("flag", [
    "-fno-wrapv", "-fstrict-aliasing", "-ffast-math", "-Ofast", "-fno-stack-protector", "-no-pie",
    "-march=native", "-funsafe-math-optimizations", "-fno-delete-null-pointer-checks", "-DNDEBUG",
    "-fprofile-use=x", "-Wl,-z,norelro", "-fallow-store-data-races",
])  # fmt: skip
def test_forbidden_flags_are_refused_wherever_they_come_from(flag):
    with pytest.raises(LabError, match="never tried"):
        Recipe("gcc", ("-O2", flag))
    with pytest.raises(LabError, match="never tried"):
        Space((Parameter("any", (flag,), ""),))


def test_the_catalogue_is_what_the_compiler_takes():
    space = flag_space("gcc")
    assert len(space.groups) >= 8
    assert len(space.parameters) > 50
    flags = [flag for parameter in space.parameters for flag in parameter.choices]
    assert len(set(flags)) == len(flags)
    assert not accepts("gcc", "-fno-such-flag")
    assert all(parameter.about for parameter in space.parameters)
    assert "inlin" in compiler_help("gcc", "-finline-functions").lower()
    assert "instructions" in compiler_help("gcc", "--param=max-inline-insns-auto=30")


def test_a_recipe_has_one_key():
    recipe = Recipe("gcc", ("-O2", "-flto"))
    assert recipe.key("a") == Recipe("gcc", ("-O2", "-flto")).key("a")
    different = [
        recipe.adding("-fweb"), Recipe("gcc-12", recipe.flags), Recipe("gcc", ("-flto", "-O2")),
        Recipe("gcc", recipe.flags, profile=True),
    ]  # fmt: skip
    assert len({recipe.key("a"), recipe.key("b"), *(r.key("a") for r in different)}) == 6


def test_random_points_reach_every_value():
    space = Space((Parameter("g", ("-fa=1", "-fa=2"), ""), Parameter("g", ("-fb",), "")))
    points = SEARCHERS["random"](space, 1).ask(60)
    assert {tuple(p) for p in points} == {(a, b) for a in range(3) for b in range(2)}
    assert np.unique([space.parameters[0].name, space.parameters[1].name]).tolist() == [
        "-fa", "-fb",
    ]  # fmt: skip
