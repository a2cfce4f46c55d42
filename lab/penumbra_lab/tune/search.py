"""Searching a space of flags where one look costs minutes: ask, tell, and when to stop.

A searcher is a function of its seed and of what it was told, nothing else: a search that is begun
again asks for the same points, and the journal answers those that were measured.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from penumbra_lab.tune.space import Point, Space, changed, with_value

# None: a build that fails, miscompiles, hangs or crashes.
Cost = float | None
Evaluate = Callable[[list[Point]], list[Cost]]

FIRST_POINTS = 8
ELITES = 5
CANDIDATES = 200
TREES = 30
# The search is over when the best candidate promises less than this share of the cost, this often.
GAIN_MIN = 0.0005
PATIENCE = 6
# The smallest set of flags may cost this much more than the best.
TOLERANCE = 0.005


class Searcher(Protocol):
    def ask(self, count: int) -> list[Point]: ...

    def tell(self, point: Point, cost: Cost) -> None: ...

    def expected_gain(self) -> float:
        """Of the points last asked for, as a share of the best cost; infinite where unknown."""
        ...


def _random_point(space: Space, random: np.random.Generator) -> Point:
    return tuple(int(random.integers(len(p.values))) for p in space.parameters)


class RandomSearch:
    """Every value of every parameter alike."""

    def __init__(self, space: Space, seed: int):
        self.space = space
        self.random = np.random.default_rng(seed)

    def ask(self, count: int) -> list[Point]:
        return [_random_point(self.space, self.random) for _ in range(count)]

    def tell(self, point: Point, cost: Cost) -> None:
        pass

    def expected_gain(self) -> float:
        return math.inf


class TreeParzen:
    """Optuna's TPE, each parameter a category of its own."""

    def __init__(self, space: Space, seed: int):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=FIRST_POINTS)
        self.space = space
        self.study = optuna.create_study(sampler=sampler)
        self.failed = optuna.trial.TrialState.FAIL
        self.asked: dict[Point, list] = {}

    def ask(self, count: int) -> list[Point]:
        points = []
        for _ in range(count):
            trial = self.study.ask()
            point = tuple(
                trial.suggest_categorical(str(number), range(len(parameter.values)))
                for number, parameter in enumerate(self.space.parameters)
            )
            self.asked.setdefault(point, []).append(trial)
            points.append(point)
        return points

    def tell(self, point: Point, cost: Cost) -> None:
        trial = self.asked[point].pop(0)
        self.study.tell(trial, cost, self.failed if cost is None else None)

    def expected_gain(self) -> float:
        return math.inf


class GroupMutation:
    """Mutates one group of flags of one of the best points; a random forest chooses the mutant.

    Flags of one group act on the same code and need each other (inlining and its limits), while
    most groups do nothing for a given program: changing a group as a whole finds in few
    evaluations what single flags hide in noise.
    """

    def __init__(self, space: Space, seed: int):
        self.space = space
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.costs: dict[Point, Cost] = {}
        self.asked = 0
        self.gain = math.inf

    def ask(self, count: int) -> list[Point]:
        known = [cost for cost in self.costs.values() if cost is not None]
        self.asked += count
        if self.asked <= FIRST_POINTS or len(known) < 2:
            return self._first_points(count)
        candidates = list(self._candidates())
        if not candidates:
            self.gain = 0.0
            return []
        promise = self._expected_improvement(candidates, min(known))
        order = np.argsort(-promise, kind="stable")[:count]
        self.gain = float(promise[order[0]]) / min(known)
        return [candidates[number] for number in order]

    def tell(self, point: Point, cost: Cost) -> None:
        self.costs[point] = cost

    def expected_gain(self) -> float:
        return self.gain

    def _first_points(self, count: int) -> list[Point]:
        """The origin, then points in which about half of the groups are changed."""
        found = [] if self.space.origin in self.costs else [self.space.origin]
        while len(found) < count:
            point = self.space.origin
            for members in self.space.groups.values():
                if self.random.random() < 0.5:
                    point = self._mutate(point, members)
            found.append(point)
        return found

    def _mutate(self, point: Point, members: Sequence[int]) -> Point:
        """About half of the group's flags, at least one, each to any other value."""
        chosen = [n for n in members if self.random.random() < 0.5]
        for number in chosen or [members[self.random.integers(len(members))]]:
            others = [v for v in range(len(self.space.parameters[number].values))
                      if v != point[number]]  # fmt: skip
            point = with_value(point, number, int(self.random.choice(others)))
        return point

    def _candidates(self) -> dict[Point, None]:
        """Of the best points: a group mutated, a group of another of them, one flag changed."""
        feasible = sorted((cost, point) for point, cost in self.costs.items() if cost is not None)
        elites = [point for _, point in feasible[:ELITES]]
        groups = list(self.space.groups.values())
        found: dict[Point, None] = {}
        for _ in range(CANDIDATES):
            # The better, the more often.
            elite = elites[int(len(elites) * self.random.random() ** 2)]
            members = groups[self.random.integers(len(groups))]
            kind = self.random.random()
            if kind < 0.5:
                point = self._mutate(elite, members)
            elif kind < 0.75:
                donor = elites[self.random.integers(len(elites))]
                point = elite
                for number in members:
                    point = with_value(point, number, donor[number])
            else:
                point = self._mutate(elite, [members[self.random.integers(len(members))]])
            if point not in self.costs:
                found[point] = None
        return found

    def _expected_improvement(self, candidates: Sequence[Point], best: float) -> np.ndarray:
        from scipy.stats import norm

        mean, spread = self._predict(candidates)
        z = (best - mean) / spread
        return (best - mean) * norm.cdf(z) + spread * norm.pdf(z)

    def _predict(self, candidates: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
        """Mean and spread: a line for what each flag does alone, a forest for what is left over,
        what flags do together. A forest alone is certain about flags that no point ever had; the
        line, as a Gaussian process, is as unsure of them as it should be."""
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.linear_model import BayesianRidge
        from threadpoolctl import threadpool_limits

        worst = max(cost for cost in self.costs.values() if cost is not None)
        costs = np.array([worst if cost is None else cost for cost in self.costs.values()])
        known, asked = self._features(list(self.costs)), self._features(candidates)
        # Threads of the linear algebra would spin on matrices of this size.
        with threadpool_limits(1):
            line = BayesianRidge().fit(known, costs)
            mean, doubt = line.predict(asked, return_std=True)
        forest = RandomForestRegressor(
            TREES, max_features=0.5, random_state=self.seed + len(costs), n_jobs=1
        ).fit(known, costs - line.predict(known))
        guesses = np.array([tree.predict(asked) for tree in forest.estimators_])
        spread = np.sqrt(guesses.var(axis=0) + np.maximum(doubt**2 - 1 / line.alpha_, 0.0))
        return mean + guesses.mean(axis=0), spread + 1e-12 * costs.min()

    def _features(self, points: Sequence[Point]) -> np.ndarray:
        """A column for each choice: the values of a parameter have no order."""
        columns = [
            [point[number] == value for point in points]
            for number, parameter in enumerate(self.space.parameters)
            for value in range(1, len(parameter.values))
        ]
        return np.array(columns, dtype=float).T


SEARCHERS: dict[str, type] = {
    "group": GroupMutation,
    "tpe": TreeParzen,
    "random": RandomSearch,
}


@dataclass(frozen=True)
class Trial:
    point: Point
    cost: Cost


def search(searcher: Searcher, evaluate: Evaluate, evaluations: int, batch: int = 1) -> list[Trial]:
    """At most so many evaluations, `batch` at a time, until little is to be expected of more."""
    trials: list[Trial] = []
    poor_rounds = 0
    while len(trials) < evaluations and poor_rounds < PATIENCE:
        points = searcher.ask(min(batch, evaluations - len(trials)))
        if not points:
            break
        poor_rounds = poor_rounds + 1 if searcher.expected_gain() < GAIN_MIN else 0
        for point, cost in zip(points, evaluate(points), strict=True):
            searcher.tell(point, cost)
            trials.append(Trial(point, cost))
    return trials


def best_of(trials: Sequence[Trial]) -> Trial | None:
    feasible = [trial for trial in trials if trial.cost is not None]
    return min(feasible, key=lambda trial: trial.cost, default=None)


def best_so_far(trials: Sequence[Trial]) -> list[float]:
    """After each evaluation; what was infeasible changes nothing."""
    lowest, found = math.inf, []
    for trial in trials:
        lowest = min(lowest, math.inf if trial.cost is None else trial.cost)
        found.append(lowest)
    return found


@dataclass(frozen=True)
class Minimised:
    point: Point
    cost: float
    # What leaving out one flag of the best point costs, as a share; None: infeasible without it.
    losses: dict[int, float | None]


def minimise(
    best: Trial, evaluate: Evaluate, tolerance: float = TOLERANCE, batch: int = 1
) -> Minimised:
    """The smallest set of the best point's flags that costs at most `tolerance` more.

    First every flag is left out alone, which tells what it is worth. Then flags go for good, the
    least useful first, as long as the bound holds. The bound is that of the best cost ever seen:
    leaving out a harmful flag lowers it.
    """
    point, cost = best.point, best.cost
    flags = changed(point)
    lowest = cost
    single: dict[int, Cost] = {}
    for begin in range(0, len(flags), batch):
        numbers = flags[begin : begin + batch]
        found = evaluate([with_value(best.point, number, 0) for number in numbers])
        single.update(zip(numbers, found, strict=True))
    lowest = min([lowest, *(c for c in single.values() if c is not None)])
    useless_first = sorted((c, number) for number, c in single.items() if c is not None)
    for alone, number in useless_first:
        if alone > lowest * (1 + tolerance):
            break  # the rest is worth more than the bound allows, each by itself
        fewer = with_value(point, number, 0)
        found = evaluate([fewer])[0]
        if found is not None and found <= lowest * (1 + tolerance):
            point, cost = fewer, found
            lowest = min(lowest, found)
    losses = {n: None if c is None else c / best.cost - 1 for n, c in single.items()}
    return Minimised(point, cost, losses)
