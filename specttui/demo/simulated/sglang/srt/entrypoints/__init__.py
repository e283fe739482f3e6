"""What faces the outside: the launcher and the HTTP server."""
