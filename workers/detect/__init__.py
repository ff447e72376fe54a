"""Detectors: numbers of a job's ranks in, findings out. Pure: no database, no clock, no network."""
