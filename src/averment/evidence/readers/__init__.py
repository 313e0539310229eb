"""One module per format: how it is recognised, how it maps onto the model, and what it is known not to read."""
