"""Archives of sets: publish, list, fetch, verify and compare them over time.

In this package an archive is one published set, and a storage is the folder or bucket that holds archives. The options
and docs/ call that folder or bucket an archive.
"""
