"""The sections of the report: each is one class here, one line of registry.py, and one template."""
