"""Measurements: `python -m benchmarks.<name>` prints a table, and one JSON object as its last line."""
