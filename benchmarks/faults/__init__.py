"""What holds under faults: `python -m benchmarks.faults`."""
