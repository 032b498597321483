"""Carries out a plan: runs every planned process, block by block, and writes a row for each."""
