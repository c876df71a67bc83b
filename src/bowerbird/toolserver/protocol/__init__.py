"""The Model Context Protocol: HTTP endpoint, messages, prompts and resources."""
