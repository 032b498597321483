"""Archives of sets: publish, list, fetch, verify and compare them over time.

An archive is a folder or bucket of published sets; `Storage` reads and writes it.
"""
