"""The commands on result sets: report, compare, archive, verify, and others."""
