"""The bundled conversation of `averment demo`, and the document that catches its agent."""
