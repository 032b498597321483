"""Rows in Parquet files: counted before they are unpacked, checked when they are read."""
