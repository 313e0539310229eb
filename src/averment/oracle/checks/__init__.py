"""What certification asks of a pack, one module per check."""
