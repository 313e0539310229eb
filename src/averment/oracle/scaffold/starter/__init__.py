"""The starter pack, as the files that it consists of, in layers: `scaffold.layers` says how they are laid together.

They are copied into new packs, never imported; words like `__PACK_ID__` are replaced on the way.
"""
