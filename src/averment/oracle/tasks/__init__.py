"""From templates to tasks: values for slots, the steps of conversations, their texts, the calls that are gold."""
