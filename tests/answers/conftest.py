"""The made-up set of the report's tests."""

from tests.page.conftest import folder, html_file, loaded, made

__all__ = ["folder", "html_file", "loaded", "made"]
