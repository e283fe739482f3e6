"""Speculative decoding: the workers that the probe goes into."""
