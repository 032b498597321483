"""Judges a change of a question's functions whose author isn't trusted. docs/how-to/judge.md says how."""
