"""Published tables: those of README.md and docs/ that are rendered from result sets and stand between markers."""
