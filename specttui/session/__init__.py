"""The commands, the recording, replay and load."""
