"""What is copied to the demo host: a simulated SGLang and its nvidia-smi. Standard library only."""
