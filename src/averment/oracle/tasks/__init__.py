"""From templates to tasks: values for their slots, the steps and the texts of their conversations, their gold calls."""
