"""What the files of a pack hold, one module per file, and `Pack`, all of them together."""
