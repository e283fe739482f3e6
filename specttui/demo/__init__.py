"""An embedded SSH host with a simulated server, for the demo and the tests."""
