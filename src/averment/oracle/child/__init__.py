"""What runs in the process of an oracle; it imports the standard library and nothing else."""
