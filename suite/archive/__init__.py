"""Sets in versions: published to a folder or a bucket, listed, fetched, verified, and read over time."""
