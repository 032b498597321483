"""docs/pitfalls.md: a lesson whose numbers come from a result set."""
