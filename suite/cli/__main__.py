"""`python -m suite.cli run …` is `./stackwars run …`."""

from suite.cli.app import main

main()
