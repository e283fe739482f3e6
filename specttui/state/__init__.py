"""The state: a pure fold over events, and the snapshot the screen draws."""
