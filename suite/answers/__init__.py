"""What the report answers, a file each: a sentence and a table (answer.py), whose columns are in columns.py.
`figures/` computes the charts that the page draws."""
