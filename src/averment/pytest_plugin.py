"""The plugin for pytest: assertion documents as tests, and the fixture `averment`.

pytest imports this module in every session, so it is light: what it needs is imported when it is used.
"""
