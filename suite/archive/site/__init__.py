"""Makes a site of many sets. Its pages are static: any web server can serve them, and a browser can open them as
files."""
