"""What the plugin for pytest is made of; `averment.pytest_plugin` imports it when there is something to judge."""
