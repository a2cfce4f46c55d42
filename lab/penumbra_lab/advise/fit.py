"""Takes the costs of model.py from documents of `penumbra bench advise`:

    python -m penumbra_lab.advise.fit [--not-fitted X.json]... A.json B.json ...

writes costs.json, and prints how well each workload is predicted by the costs of the others.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from scipy.optimize import least_squares
from scipy.stats import spearmanr

from penumbra_lab.advise.model import COSTS, PENUMBRA, POSTGRESQL, Costs, Quantities
from penumbra_lab.run.document import medians, read_run

NANOSECONDS_PER_MS = 1e6
# How much a workload has to say against what is expected.
EXPECTATION = 0.7
EXPECTED_NS = {
    "postgresql": {
        "start": 200_000, "pages": 200, "rows": 40, "deformed_values": 3, "operations": 20,
        "numbers": 60, "texts": 50, "index_rows": 100, "index_searches": 1000, "joined_rows": 60,
        "looped_rows": 60, "aggregated_values": 30, "groups": 150, "sorted_rows": 15,
        "top_rows": 30, "returned_values": 100,
    },
    "penumbra": {
        "start": 300_000, "tables": 100_000, "columns": 50_000, "scanned_rows": 0.3,
        "scanned_bytes": 0.2, "operations": 1, "numbers": 2, "texts": 20, "built_rows": 20,
        "joined_rows": 5, "aggregated_values": 2, "groups": 50, "text_groups": 200,
        "sorted_rows": 5, "top_rows": 1, "returned_values": 50,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    workload: str
    query: str
    quantities: Quantities
    postgresql_ms: float
    penumbra_ms: float

    @property
    def speedup(self) -> float:
        return self.postgresql_ms / self.penumbra_ms


def read_samples(path: Path) -> list[Sample]:
    document = read_run(path)
    times = {query: found for (query, _, _), found in medians(document).items()}
    samples = []
    for query, advice in document["sections"]["advice"].items():
        counted = {name: Counter(made) for name, made in advice["quantities"].items()}
        samples.append(Sample(document["title"], query, Quantities(**counted),
                              times[query]["stock"], times[query]["penumbra"]))  # fmt: skip
    return samples


def fit(samples: Sequence[Sample]) -> Costs:
    """Least squares of the logarithms of both times and of their ratio. What the workloads say
    nothing about stays near what is expected of it."""
    names = [("postgresql", name) for name in POSTGRESQL] + [("penumbra", n) for n in PENUMBRA]
    expected = numpy.log([EXPECTED_NS[side][name] for side, name in names])
    ran = [sample for sample in samples if sample.quantities.penumbra]
    whole = _matrix([sample.quantities.postgresql for sample in samples], POSTGRESQL)
    left = _matrix([sample.quantities.left for sample in ran], POSTGRESQL)
    vectors = _matrix([sample.quantities.penumbra for sample in ran], PENUMBRA)
    stock = numpy.log([sample.postgresql_ms for sample in samples])
    ours = numpy.log([sample.penumbra_ms for sample in ran])
    has_run = numpy.array([bool(sample.quantities.penumbra) for sample in samples])

    def residuals(logarithms: numpy.ndarray) -> numpy.ndarray:
        costs = numpy.exp(logarithms) / NANOSECONDS_PER_MS
        theirs = numpy.log(whole @ costs[: len(POSTGRESQL)]) - stock
        own = left @ costs[: len(POSTGRESQL)] + vectors @ costs[len(POSTGRESQL) :]
        own = numpy.log(own) - ours
        ratio = theirs[has_run] - own
        return numpy.concatenate((theirs, own, ratio, EXPECTATION * (logarithms - expected)))

    solution = numpy.exp(least_squares(residuals, expected).x)
    costs: dict[str, dict[str, float]] = {"postgresql": {}, "penumbra": {}}
    for (side, name), cost in zip(names, solution, strict=True):
        costs[side][name] = float(f"{cost:.3g}")
    return Costs(**costs)


def _matrix(rows: Sequence[Counter], names: Sequence[str]) -> numpy.ndarray:
    return numpy.array([[row[name] for name in names] for row in rows], dtype=float)


def predict(samples: Sequence[Sample], costs: Costs) -> list[float]:
    return [sample.quantities.speedup(costs) for sample in samples]


def report(label: str, samples: Sequence[Sample], predicted: Sequence[float]) -> None:
    real = [sample.speedup for sample in samples]
    errors = numpy.abs(numpy.log2(numpy.array(predicted) / numpy.maximum(real, 1.0)))
    rank = spearmanr(predicted, real).statistic
    print(f"{label}: {len(samples)} queries, rank correlation {rank:.2f},"
          f" half of them within a factor of {2 ** float(numpy.median(errors)):.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--not-fitted", action="append", default=[], type=Path)
    parser.add_argument("--dry-run", action="store_true", help="leave costs.json as it is")
    options = parser.parse_args()
    fitted = [sample for path in options.documents for sample in read_samples(path)]
    others = [sample for path in options.not_fitted for sample in read_samples(path)]
    tried: list[Sample] = []
    predicted: list[float] = []
    for left_out in dict.fromkeys(sample.workload for sample in fitted):
        costs = fit([sample for sample in fitted if sample.workload != left_out])
        own = [sample for sample in fitted if sample.workload == left_out]
        report(f"{left_out}, by the others' costs", own, predict(own, costs))
        tried += own
        predicted += predict(own, costs)
    costs = fit(fitted)
    for workload in dict.fromkeys(sample.workload for sample in others):
        own = [sample for sample in others if sample.workload == workload]
        report(f"{workload}, not fitted", own, predict(own, costs))
    report("all, each by costs of other workloads", [*tried, *others],
           [*predicted, *predict(others, costs)])  # fmt: skip
    everything = [*fitted, *others]
    report("all, by the costs that are kept", everything, predict(everything, costs))
    if not options.dry_run:
        made = {"postgresql_ns": costs.postgresql, "penumbra_ns": costs.penumbra}
        COSTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
