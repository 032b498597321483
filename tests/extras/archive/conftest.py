"""A small whole set, and places for archives."""

from __future__ import annotations

from tests.extras.archive.s3 import bucket, place, server, shelf
from tests.sets.conftest import stored

__all__ = ["bucket", "place", "server", "shelf", "stored"]  # fixtures
