"""The scheduler process and what it passes around."""
