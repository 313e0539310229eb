"""OpenTelemetry spans, whatever file they come in: what their carriers share, and how they become a conversation."""
