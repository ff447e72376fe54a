"""PyTorch's flight recorder: reads the dumps of a job's ranks and says who did not come along."""
