"""Panels as text: pure functions from a snapshot and a width to lines of `Content`."""
