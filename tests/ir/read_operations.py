"""In the environment `jax`: {name: optimized HLO, the folder of a profile, or TensorFlow's names of operations} on
standard input, each operation's category on standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from suite.ir import attribute, parse
from suite.ir.timeline import Category, by_rules


def categories(told: str | list[str] | dict[str, str]) -> dict[str, str]:
    """Of the operations of a program, of the programs in a folder, or of names."""
    if isinstance(told, dict):
        return {name: category for (_, name), category in attribute.programs(Path(told["folder"])).items()}
    if isinstance(told, str):
        return attribute.operations(parse.optimized_text(told))
    return {name: by_rules(name, attribute.TF_RULES, Category.ELEMENTWISE) for name in told}


def main() -> None:
    """A line of JSON."""
    print(json.dumps({name: categories(told) for name, told in json.load(sys.stdin).items()}))


if __name__ == "__main__":
    main()
