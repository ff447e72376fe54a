"""Sweeps: one command launched many times with other arguments, to find the best of them."""
