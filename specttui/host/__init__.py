"""All that touches the remote machine."""
