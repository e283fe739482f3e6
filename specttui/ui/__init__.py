"""The screen: draws snapshots, calls the session's commands."""
