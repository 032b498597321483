"""The ways to write a report: HTML, Markdown, CSV and JSON."""
