"""What other documents published (docs/published/), and which of it can't be."""
