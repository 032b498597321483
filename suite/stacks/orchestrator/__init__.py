"""The stack of the tests, which runs in the orchestrator's own environment."""
