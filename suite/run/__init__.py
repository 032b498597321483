"""Carries out a plan: `session` runs every planned process, block by block, and `runner` makes a row of each;
`agreement` judges the rows of a question by each other, and `rounds` lets its processes (`member`) take turns. `start/`
makes, reopens and reproduces runs."""
