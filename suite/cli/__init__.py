"""The command line: `app` says which commands there are; each is a file with its options, what it does and prints."""
