"""Rows in Parquet files: their size is checked before they are unpacked, their values when they are read."""
