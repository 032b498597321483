"""In the environment `jax`: {name: optimized HLO} on standard input, each operation's category on standard output."""

from __future__ import annotations

import json
import sys

from suite.ir import attribute, parse


def main() -> None:
    """A line of JSON."""
    asked = json.load(sys.stdin)
    print(json.dumps({name: attribute.operations(parse.optimized(text)) for name, text in asked.items()}))


if __name__ == "__main__":
    main()
