"""Archives of sets: publish to a folder or bucket, list, fetch, verify, and compare over time."""
