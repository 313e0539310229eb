"""A scripted support desk: scenarios, the shop's tools, callers, and the agent that is on trial."""
