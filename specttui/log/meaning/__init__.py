"""What sequences of log lines mean, beyond their fields: pure functions over events."""
