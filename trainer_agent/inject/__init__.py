"""This folder, and nothing else of Paceline, goes on PYTHONPATH of the user's process."""
