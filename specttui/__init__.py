"""specttui: find out in one terminal session whether speculative decoding pays, and why not."""

__version__ = "0.1.0"
