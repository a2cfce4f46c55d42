"""Runs benchmarks and writes documents of schema/run.schema.json."""
