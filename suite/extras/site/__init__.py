"""A site of many sets, and the history of a case over them. Pages are static: any web server can serve them, and a
browser can open them as files."""
