"""Programs that run in an environment of their own, started and never imported."""
