"""Programs of the demo host that are not part of the server."""
