"""Making gold of bound tasks: conversation, calls, replays, and every reason why a task is not gold."""
