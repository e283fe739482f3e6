"""A server's command line and environment: read, change, diff, render. Pure."""
