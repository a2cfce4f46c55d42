"""Judges results: estimates with intervals, verdicts, comparisons. Pure functions, no server."""
