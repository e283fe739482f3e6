"""The simulated runtime, laid out as the real one is."""
