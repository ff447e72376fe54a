"""What measuring costs: steps with the probe against steps without it."""
