"""Publishes result sets in archives, lists, fetches and verifies them, and compares them over time.

An archive is a folder or a bucket of published sets; `Storage` reads and writes it.
"""
