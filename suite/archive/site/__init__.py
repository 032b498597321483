"""A site of many sets: static pages, for any page server or to be opened as files."""
