"""Building a benchmark of a pack: gold tasks as rows, every other task with its reason, and a manifest as the last word."""
