"""The whole of a tuning: layers, flags, the smallest set, and what may be said of it.

Counts decide what is built next, never what is accepted: instructions fall with inlining while
instruction-cache misses rise, and layout luck is not seen by a simulated cache. What is accepted
passes the project's own tests and is faster on the clock.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from penumbra_lab.errors import LabError
from penumbra_lab.tune.callgrind import COST, Counts
from penumbra_lab.tune.catalog import accepts, flag_space, layers
from penumbra_lab.tune.evaluate import Evaluator
from penumbra_lab.tune.journal import OutOfBudget
from penumbra_lab.tune.search import SEARCHERS, Minimised, Trial, best_of, minimise, search
from penumbra_lab.tune.space import Layer, Point, Recipe, Space

# Less is not worth a configuration that nobody else runs, and data-cache misses differ by as much
# between two places of one build.
LAYER_GAIN_MIN = 0.005


@dataclass(frozen=True)
class Step:
    """One option of one layer, on the best that came before it."""

    layer: str
    label: str
    recipe: Recipe
    counts: Counts | None
    reason: str
    is_kept: bool = False


@dataclass
class Findings:
    """Grows while the tuning goes on: an interrupted run shows what it has."""

    steps: list[Step] = field(default_factory=list)
    base: Recipe | None = None  # the best of the layers; flags are searched on it
    space: Space | None = None
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    best: Trial | None = None
    smallest: Minimised | None = None
    recipe: Recipe | None = None
    stopped: str = ""  # why the search ended before its end

    @property
    def baseline(self) -> Step:
        return self.steps[0]

    def kept(self) -> list[Step]:
        return [step for step in self.steps if step.is_kept]

    def finalists(self, has_layout: bool) -> list[tuple[str, Recipe]]:
        """The best first; then with what counts cannot see; then the layers without flags."""
        found = [("tuned", self.recipe)]
        for layer in layers(self.recipe.compiler, [], has_layout):
            if not layer.is_counted:
                found += layer.recipes(self.recipe)
        found += [(step.layer, step.recipe) for step in reversed(self.kept())]
        labels: dict[Recipe, str] = {}
        for label, recipe in found:
            labels.setdefault(recipe, label)
        return [(label, recipe) for recipe, label in labels.items()]


@dataclass(frozen=True)
class Plan:
    compilers: tuple[str, ...]  # the first is the baseline's
    searchers: tuple[str, ...]
    evaluations: int  # of each searcher
    seed: int
    batch: int


class Tuner:
    def __init__(self, evaluator: Evaluator, plan: Plan, progress: Callable[[str], None]):
        self.evaluator = evaluator
        self.project = evaluator.project
        self.plan = plan
        self.progress = progress
        self.findings = Findings()

    def run(self) -> None:
        try:
            self._layers()
            self._flags()
        except OutOfBudget:
            self.findings.stopped = "the time for searching was used up"
            self.progress(self.findings.stopped)

    def _layers(self) -> None:
        found = self.findings
        recipe = self.project.baseline(self.plan.compilers[0])
        self.evaluator.keep.add(self.evaluator.key(recipe))
        step = self._steps("baseline", [("the distribution's flags", recipe)])[0]
        if step.counts is None:
            raise LabError(f"the baseline does not work: {step.reason}")
        found.steps.append(_kept(step))
        best = step
        self._settle(best)
        for layer in layers(recipe.compiler, list(self.plan.compilers), self.project.has_layout):
            if layer.is_counted:
                best = self._layer(layer, best)
                self._settle(best)

    def _settle(self, best: Step) -> None:
        self.findings.base = self.findings.recipe = best.recipe
        self.evaluator.keep = {self.evaluator.key(s.recipe) for s in (self.findings.baseline, best)}

    def _layer(self, layer: Layer, best: Step) -> Step:
        options = [
            (label, recipe) for label, recipe in layer.recipes(best.recipe)
            if all(accepts(recipe.compiler, f) for f in recipe.flags if not f.startswith("-W"))
        ]  # fmt: skip
        steps = self._steps(layer.name, options)
        working = [step for step in steps if step.counts is not None]
        winner = min(working, key=lambda step: step.counts[COST], default=None)
        if winner and winner.counts[COST] >= best.counts[COST] * (1 - LAYER_GAIN_MIN):
            winner = None
        self.findings.steps += [_kept(step) if step is winner else step for step in steps]
        return winner or best

    def _steps(self, layer: str, options: list[tuple[str, Recipe]]) -> list[Step]:
        """Options do not depend on each other: they are built side by side."""
        found = []
        for begin in range(0, len(options), self.plan.batch):
            some = options[begin : begin + self.plan.batch]
            counts = self.evaluator.counts([recipe for _, recipe in some], layer)
            for (label, recipe), counted in zip(some, counts, strict=True):
                entry = self.evaluator.journal.entries[self.evaluator.key(recipe)]
                found.append(Step(layer, label, recipe, counted, entry.reason))
        return found

    def _flags(self) -> None:
        found = self.findings
        space = found.space = flag_space(found.base.compiler)
        if self.plan.evaluations == 0:
            return
        origin = Trial(space.origin, found.kept()[-1].counts[COST])
        for name in self.plan.searchers:
            trials: list[Trial] = []
            found.trials[name] = trials

            def evaluate(points: list[Point], trials=trials, name=name) -> list[float | None]:
                costs = self._costs(points, f"flags, {name}")
                trials += [Trial(p, c) for p, c in zip(points, costs, strict=True)]
                found.best = best_of([origin, *(t for ts in found.trials.values() for t in ts)])
                found.recipe = found.base.adding(*space.flags(found.best.point))
                return costs

            search(SEARCHERS[name](space, self.plan.seed), evaluate, self.plan.evaluations,
                   self.plan.batch)  # fmt: skip
        if found.best.point != space.origin:
            found.smallest = minimise(
                found.best, lambda points: self._costs(points, "leaving out"),
                batch=self.plan.batch,
            )  # fmt: skip
            found.recipe = found.base.adding(*space.flags(found.smallest.point))

    def _costs(self, points: list[Point], phase: str) -> list[float | None]:
        recipes = [self.findings.base.adding(*self.findings.space.flags(p)) for p in points]
        return [counts and counts[COST] for counts in self.evaluator.counts(recipes, phase)]


def _kept(step: Step) -> Step:
    return Step(step.layer, step.label, step.recipe, step.counts, step.reason, True)
