"""What only this repository needs: its pages, golden files, locks and base images. `python -m tools.NAME --help`."""
