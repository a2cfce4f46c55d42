"""Recipes in, counts out: builds are cached, failures remembered, measuring is one at a time."""

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.tune.callgrind import COST, Counts
from penumbra_lab.tune.execute import Executor, Infeasible
from penumbra_lab.tune.journal import Budget, Journal
from penumbra_lab.tune.project import Project
from penumbra_lab.tune.space import Recipe

# A signal that comes after Python's last look for one and before the thread sleeps does not wake
# it, so no wait is without an end.
WAIT_SECONDS = 0.1


class Evaluator:
    def __init__(
        self, project: Project, place: Path, journal: Journal, budget: Budget,
        executor: Executor, builders: int = 1, progress: Callable[[str], None] = lambda text: None,
    ):  # fmt: skip
        self.project = project
        self.place = place
        self.builds = place / "builds"
        self.builds.mkdir(parents=True, exist_ok=True)
        self.journal = journal
        self.budget = budget
        self.executor = executor
        self.builders = builders
        self.progress = progress
        self.keep: set[str] = set()  # builds that are not removed for room
        self._measuring = threading.Lock()
        self._writing = threading.Lock()

    def key(self, recipe: Recipe) -> str:
        return recipe.key(self.project.identity)

    def counts(self, recipes: Sequence[Recipe], phase: str) -> list[Counts | None]:
        """In the order asked; builds go side by side, measurements one after the other."""
        missing = {self.key(recipe): recipe for recipe in recipes
                   if self.key(recipe) not in self.journal.entries}  # fmt: skip
        if missing:
            self.budget.check_time(self.journal)
            self._evaluate(list(missing.values()), phase)
        return [self.journal.entries[self.key(recipe)].counts for recipe in recipes]

    def _evaluate(self, recipes: list[Recipe], phase: str) -> None:
        pool = ThreadPoolExecutor(self.builders)
        try:
            work = [pool.submit(self._evaluate_one, recipe, phase, number % self.builders)
                    for number, recipe in enumerate(recipes)]  # fmt: skip
            for future in work:
                while not future.done():
                    wait([future], WAIT_SECONDS)
                future.result()
        except BaseException:
            # Ctrl-C comes to this thread; the others see the event within a tenth of a second. It
            # stays set, since the pool does not wait for a thread during whose start Ctrl-C came;
            # the tuning ends anyway.
            self.executor.cancelled.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        pool.shutdown()

    def _evaluate_one(self, recipe: Recipe, phase: str, slot: int) -> None:
        began = time.monotonic()
        counts, reason = None, ""
        try:
            self.progress(f"{phase}: {recipe.describe()}")
            build = self.build(recipe, slot)
            with self._measuring:
                counts = self.project.measure(build, self.executor)
        except Infeasible as error:
            reason = str(error)
        with self._writing:
            self.journal.add(
                self.key(recipe), recipe, phase, counts, reason, time.monotonic() - began
            )
        found = f"{counts[COST]:,.0f} {COST}" if counts else f"infeasible: {reason}"
        self.progress(f"  {found} ({time.monotonic() - began:.0f} s)")

    def build(self, recipe: Recipe, slot: int = 0) -> Path:
        """The directory of a finished build; what was half done is done anew."""
        key = self.key(recipe)
        finished = self.builds / key
        if finished.exists():
            finished.touch()
            return finished
        self.budget.make_room(self.builds, {key, *self.keep})
        free = shutil.disk_usage(self.place).free
        if free < self.project.build_bytes:
            raise LabError(f"{self.place} has {free / 1e9:.1f} GB free, and a build takes"
                           f" {self.project.build_bytes / 1e9:.1f} GB")  # fmt: skip
        part = self.place / f"part-{key}"
        scratch = self.place / f"scratch-{slot}"
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)
        part.mkdir()
        scratch.mkdir()
        try:
            self.project.build(recipe, scratch, part, self.executor)
            part.rename(finished)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            shutil.rmtree(scratch, ignore_errors=True)
        return finished

