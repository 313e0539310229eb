"""Lists of tools as others write them, and what a pack needs to know of them."""
