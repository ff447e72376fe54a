"""What runs on a node and in a user's process. Stays importable with the standard library alone."""

__version__ = "0.2.0"
