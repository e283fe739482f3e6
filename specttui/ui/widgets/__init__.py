"""Widgets of ours: each draws one value and repaints only when it changed."""
