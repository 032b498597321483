"""Times and verdicts that other documents published (docs/published/), and which of these times can't be true."""
