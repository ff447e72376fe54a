"""Proves the measurement of GPUs on a machine that has them."""
