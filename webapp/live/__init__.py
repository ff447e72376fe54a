"""Frames from the server to open pages: published on capped streams, carried by server-sent events."""

from webapp.live.cursors import cursor, list_cursor

__all__ = ["cursor", "list_cursor"]
