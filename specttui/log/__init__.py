"""Log bytes to events: pure and incremental."""
