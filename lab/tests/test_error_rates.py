"""How often verdicts are wrong, on recorded noise: lab/noise/README.md has the numbers."""

from pathlib import Path

import pytest

from penumbra_lab.analysis.document import load_runs
from penumbra_lab.analysis.simulation import Design, Noise, simulate
from penumbra_lab.analysis.verdict import CONFIDENCE, MARGIN, Outcome

pytestmark = pytest.mark.slow

NOISE = Path(__file__).resolve().parents[1] / "noise"
WORKLOADS = ("select-only", "simple-update")
PAIRS, SEED = 1000, 20261121
QUIET = "one_client_a"
# What `penumbra bench pgbench` does by default
CURVE = Design(starts=5, blocks=5, points=7)
POINT = Design(starts=5, blocks=5)


def _noises(name: str) -> list[Noise]:
    run = load_runs([NOISE / f"{name}.json"])[0]
    return [Noise(run, workload) for workload in WORKLOADS]


def _rates(name: str, design: Design, ratio: float, paired: bool = True) -> dict[Outcome, float]:
    found = simulate(_noises(name), design, ratio, PAIRS, SEED, CONFIDENCE, MARGIN, paired)
    rates = {outcome: found[outcome] / PAIRS for outcome in Outcome}
    print(name, design, ratio, "paired" if paired else "unpaired", rates, "seed", SEED)
    return rates


def _differs(rates: dict[Outcome, float]) -> float:
    return rates[Outcome.BETTER] + rates[Outcome.WORSE]


@pytest.mark.parametrize("design", [CURVE, POINT])
def test_the_same_configuration_twice_is_no_difference(design):
    assert _rates(QUIET, design, 1.0)[Outcome.SAME] >= 0.95


@pytest.mark.parametrize("design", [CURVE, POINT])
@pytest.mark.parametrize("ratio", [1.05, 1 / 1.05])
def test_five_percent_are_found_when_it_is_quiet(design, ratio):
    rates = _rates(QUIET, design, ratio)
    assert rates[Outcome.BETTER if ratio > 1 else Outcome.WORSE] >= 0.8


@pytest.mark.parametrize("name", [QUIET, "one_client_b", "two_clients"])
@pytest.mark.parametrize(
    "design",
    [CURVE, POINT, Design(starts=1, blocks=5), Design(starts=5, blocks=1), Design(5, 1, 7)],
    ids=str,
)
def test_noise_is_not_taken_for_a_difference(name, design):
    """However loud: then the verdict is that it is too noisy to tell."""
    assert _differs(_rates(name, design, 1.0)) <= 0.05


@pytest.mark.parametrize("name", [QUIET, "one_client_b"])
@pytest.mark.parametrize("design", [Design(1, 5), Design(3, 1, 7), Design(3, 5)], ids=str)
def test_nor_is_what_two_runs_differ_by(name, design):
    assert _differs(_rates(name, design, 1.0, paired=False)) <= 0.05


def test_separate_runs_find_a_large_difference():
    assert _rates(QUIET, Design(3, 5), 1 / 1.25, paired=False)[Outcome.WORSE] >= 0.8
