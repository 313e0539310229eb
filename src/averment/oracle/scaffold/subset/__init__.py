"""Schemas as others write them, brought into the subset of JSON Schema that packs are written in; nothing silently."""
