"""What starts, feeds, limits and ends the processes in which a pack's code runs."""
