"""A site of many sets: static pages, which any page server can serve and a browser can open as files."""
