"""What goes into the worker file: pure functions of source text."""
