"""Statistics, cycle breakdown, break-even, prediction. Pure."""
