"""A set's files: the columns of its rows, how rows, plan, blocks and manifest are written and read, and which rows
count. A set may come from anywhere: what is read is limited in size and checked before it is used. `archive/`
reads and writes published sets."""
