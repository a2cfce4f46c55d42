import datetime
from decimal import Decimal

import pytest

from penumbra_lab.answers import difference, value_difference


def test_exact_rows_are_compared_byte_by_byte():
    assert difference([(b"1.0",)], [(b"1.0",)], True) is None
    assert difference([(b"1.0",)], [(b"1.00",)], True) is not None
    assert difference([(None,)], [(b"",)], True) is not None
    assert "2 rows against 1" in difference([(b"1",), (b"2",)], [(b"1",)], True)


def test_order_counts_only_where_the_statement_orders():
    left, right = [(b"1",), (None,)], [(None,), (b"1",)]
    assert difference(left, right, False) is None
    assert difference(left, right, True) is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"t", True),
        (b"12.50", Decimal("12.5")),
        (b"0.333333333333333", 1 / 3),
        (b"1995-06-17", datetime.date(1995, 6, 17)),
        (b"1995-06-01 00:00:00+00", datetime.datetime(1995, 6, 1)),
        (b"padded    ", "padded"),
        (b"007", "007"),
        (None, None),
    ],
)
def test_values_agree_across_systems(text, value):
    assert value_difference([(text,)], [(value,)], True) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [(b"1", 2), (b"f", True), (b"a", "b"), (None, 0), (b"1.000001", 1.0), (b"", None)],
)
def test_different_values_are_found(text, value):
    assert value_difference([(text,)], [(value,)], True) is not None
