"""Estimates and verdicts: known answers, and properties that must hold for any data."""

import math

import numpy as np
import pytest
from scipy import stats

from penumbra_lab.analysis.document import Sample
from penumbra_lab.analysis.estimate import (
    Estimate,
    estimate_level,
    estimate_paired,
    estimate_unpaired,
)
from penumbra_lab.analysis.verdict import Outcome, family_confidence, judge

SEED = 20261121


def _samples(values, start=None, first_block=0):
    return [Sample(value, block, start) for block, value in enumerate(values, first_block)]


def test_pairs_on_one_server_give_the_paired_t_interval():
    base, other = [100.0, 110.0, 90.0, 105.0, 95.0], [104.0, 113.0, 95.0, 108.0, 101.0]
    estimate = estimate_paired([_samples(base)], [_samples(other)], same_server=True)
    ratios = np.log(other) - np.log(base)
    known = stats.ttest_1samp(ratios, 0).confidence_interval(0.95)
    assert estimate.mean == pytest.approx(ratios.mean())
    assert estimate.mean - estimate.half_width(0.95) == pytest.approx(known.low)
    assert (estimate.degrees, estimate.units, estimate.unit) == (4, 5, "repetitions")


def test_one_sample_for_each_server_start_gives_the_paired_t_interval_too():
    base = [Sample(value, block, block) for block, value in enumerate([10.0, 11.0, 12.0])]
    other = [Sample(value, block, block) for block, value in enumerate([11.0, 11.5, 13.0])]
    estimate = estimate_paired([base], [other], same_server=False)
    ratios = np.log([1.1, 11.5 / 11, 13 / 12])
    assert estimate.standard_error == pytest.approx(ratios.std(ddof=1) / math.sqrt(3))
    assert (estimate.degrees, estimate.units, estimate.unit) == (2, 3, "server starts")


def test_unpaired_starts_give_welchs_interval():
    left = [Sample(value, n, n) for n, value in enumerate([100.0, 104.0, 97.0, 101.0])]
    right = [Sample(value, n, n) for n, value in enumerate([109.0, 103.0, 106.0])]
    estimate = estimate_unpaired([left], [right])
    logs = [np.log([sample.value for sample in side]) for side in (right, left)]
    known = stats.ttest_ind(*logs, equal_var=False)
    interval = known.confidence_interval(0.95)
    assert estimate.degrees == pytest.approx(known.df)
    assert estimate.mean + estimate.half_width(0.95) == pytest.approx(interval.high)


def test_more_repetitions_on_one_start_do_not_remove_what_starts_differ_by():
    random = np.random.default_rng(SEED)

    def half_width(blocks: int, starts: int) -> float:
        samples = [Sample(100 * math.exp(random.normal(0, 0.001)), block, start)
                   for start in range(starts) for block in range(blocks)]  # fmt: skip
        return estimate_level([samples]).half_width(0.95)

    assert half_width(1000, 1) > 0.05
    assert half_width(20, 9) < half_width(1000, 1) / 3


def test_one_server_for_both_has_no_start_between_them():
    base, other = _samples([100.0, 101.0, 99.0], 0), _samples([110.0, 111.5, 108.0], 0)
    one, two = (estimate_paired([base], [other], same) for same in (True, False))
    assert one.half_width(0.95) < 0.02 < two.half_width(0.95)


def test_blocks_that_only_one_side_has_are_left_out():
    base, other = _samples([100.0, 101.0, 500.0]), _samples([110.0, 111.0])
    assert estimate_paired([base], [other], True).units == 2
    assert estimate_paired([base], [_samples([1.0], first_block=9)], True) is None


def test_a_block_of_several_samples_counts_once():
    base = [Sample(100.0, 0, None), Sample(102.0, 1, None), Sample(98.0, 2, None)]
    doubled = [s for s in base for _ in range(4)]
    other = [Sample(s.value * 1.1, s.block, None) for s in base]
    assert estimate_paired([doubled], [other], True).units == 3


def test_the_curve_counts_each_point_once_whatever_its_number_of_samples():
    first = _samples([100.0] * 3), _samples([110.0] * 3)
    second = _samples([50.0] * 30), _samples([50.0] * 30)
    estimate = estimate_paired([first[0], second[0]], [first[1], second[1]], True)
    assert estimate.mean == pytest.approx(math.log(1.1) / 2)


@pytest.mark.parametrize("values", [[100.0], [1e-9], [1e12]])
def test_one_sample_has_no_interval(values):
    estimate = estimate_paired([_samples(values)], [_samples(values)], same_server=True)
    assert not estimate.is_known and estimate.half_width(0.95) == math.inf
    assert judge(estimate, "higher", 0.95, 0.1).outcome is Outcome.UNCLEAR


def test_equal_samples_are_no_difference():
    estimate = estimate_paired([_samples([5.0] * 4)], [_samples([5.0] * 4)], True)
    verdict = judge(estimate, "lower", 0.95, 0.1)
    assert verdict.outcome is Outcome.SAME and verdict.within == 0


def _estimate(mean: float, error: float, units: int = 5) -> Estimate:
    return Estimate(mean, error, 1e9, units, "repetitions")


def test_verdicts_by_interval():
    z = stats.norm.ppf(0.975)
    better = judge(_estimate(math.log(1.05), 0.01), "higher", 0.95, 0.1)
    assert better.outcome is Outcome.BETTER
    assert better.low == pytest.approx(1.05 * math.exp(-0.01 * z))
    assert judge(_estimate(math.log(1.05), 0.01), "lower", 0.95, 0.1).outcome is Outcome.WORSE
    assert judge(_estimate(0.0, 0.01), "higher", 0.95, 0.1).outcome is Outcome.SAME
    assert judge(_estimate(0.0, 0.05), "higher", 0.95, 0.1).outcome is Outcome.UNCLEAR
    # Almost significant, and far enough for a larger difference than the margin.
    assert judge(_estimate(0.07, 0.04), "higher", 0.95, 0.1).outcome is Outcome.UNCLEAR


def test_better_is_the_mirror_of_worse():
    for mean in (-0.3, 0.02, 0.2):
        up = judge(_estimate(mean, 0.05), "higher", 0.95, 0.1)
        down = judge(_estimate(mean, 0.05), "lower", 0.95, 0.1)
        assert up.ratio == pytest.approx(1 / down.ratio) and up.low == pytest.approx(1 / down.high)


@pytest.mark.slow
def test_the_findable_difference_is_found_in_four_of_five():
    estimate = _estimate(0.0, 0.02)
    true = estimate.detectable(0.95)
    random = np.random.default_rng(SEED)
    found = [judge(_estimate(mean, 0.02), "higher", 0.95, 0.1).outcome is Outcome.BETTER
             for mean in random.normal(true, 0.02, 20_000)]  # fmt: skip
    assert np.mean(found) == pytest.approx(0.8, abs=0.01)


def test_the_repetitions_asked_for_suffice():
    error, units, margin = 0.08, 5, 0.1
    more = judge(_estimate(0.0, error, units), "higher", 0.95, margin).more_units
    enough = _estimate(0.0, error * math.sqrt(units / (units + more)), units + more)
    less = _estimate(0.0, error * math.sqrt(units / (units + more - 1)), units + more - 1)
    assert enough.detectable(0.95) <= math.log1p(margin) < less.detectable(0.95)


def test_confidence_of_a_family():
    assert family_confidence(0.95, 1) == pytest.approx(0.95)
    assert family_confidence(0.95, 7) ** 7 == pytest.approx(0.95)


@pytest.mark.parametrize("samples", [5, 10])
def test_the_interval_of_few_skewed_samples_covers(samples):
    """Percentile and BCa bootstraps reach 80 % here, at five samples."""
    random = np.random.default_rng(SEED)
    inside = 0
    for _ in range(4000):
        base = np.exp(random.gamma(2.0, 0.02, samples))
        other = np.exp(random.gamma(2.0, 0.02, samples))
        estimate = estimate_paired([_samples(base)], [_samples(other)], same_server=True)
        inside += abs(estimate.mean) <= estimate.half_width(0.95)
    assert inside / 4000 >= 0.94
