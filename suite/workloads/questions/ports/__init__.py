"""Ports: a second model in a question file gets the first one's weights, and where the two part is found."""
