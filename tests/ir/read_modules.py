"""In the environment `jax`: {name: StableHLO} on standard input, what was found in each on standard output."""

from __future__ import annotations

import json
import sys

from suite.ir import parse, regions


def main() -> None:
    """A line of JSON."""
    found = {}
    for name, text in json.load(sys.stdin).items():
        try:
            graph = parse.Reader(parse.parsed(text)).graph()
        except parse.Unreadable as refused:
            found[name] = {"refused": str(refused)}
            continue
        told = [[region.kind, region.form, count] for region, count in regions.recognised(graph).items()]
        found[name] = {
            "operations": graph.counts(),
            "regions": told,
            "aliases": graph.aliases,
            "arguments": [[*value.shape, value.dtype] for value in graph.arguments],
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
