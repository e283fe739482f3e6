"""The release whose shapes are simulated."""

__version__ = "0.5.12"
