"""The pack that every author can start from: an archive whose records are looked up and moved."""
