"""The only process that imports a framework: a case goes in, events come out."""
