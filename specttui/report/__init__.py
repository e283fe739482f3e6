"""Reports: pure functions of a folded recording."""
