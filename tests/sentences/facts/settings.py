"""One stack under two values of a field, paired in the blocks that they share."""

from __future__ import annotations

from collections import defaultdict

from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.pairs import Pairs
from tests.sentences.facts.reader import Truth
from tests.sentences.facts.rows import Line, key_of, question_names, steady

FIELDS = {"cache": "cold", "track": "default", "precision": "f32", "pass": "forward", "threads": "1",
          "variant": "as locked"}  # fmt: skip


TITLES = {"cold and warm compile cache": "cache", "default and tuned track": "track", "precisions": "precision",
          "forward and training step": "pass", "numbers of cores": "threads",
          "variants of one stack": "variant"}  # fmt: skip


def settings(truth: Truth, field: str) -> dict[tuple[str, str], dict[str, Ratio]]:
    """Returns {(question, stack): {value: its ratio over the field's usual value}}, all judged as one family."""
    clock, rows = "first" if field == "cache" else "synced", [row for row in truth.timed if row["outcome"] == "ok"]
    by_id: dict[str, list[Line]] = defaultdict(list)
    for row in rows:
        if steady(row, clock):
            by_id[key_of(row, (field,))].append(row)
    several = {id_: of for id_, of in by_id.items() if len({row[field] for row in of}) > 1}
    lines = [
        row
        | {"asked": id_, "who": str(row[field]) or FIELDS[field]}
        | ({} if field == "variant" else {"synced_rounds": None, "kept": row.get("kept", {})})
        for id_, of in several.items()
        for row in of
    ]
    values = sorted({row["who"] for row in lines}, key=lambda v: (v != FIELDS[field], v.isdecimal() and int(v), v))
    if not values:
        return {}
    pairs = Pairs.of(lines, truth.protocol, values[0], clock, one_family=True)
    heads = {id_: of[-1] for id_, of in several.items()}
    asked = {id_: key_of(head, (field, "stack", "variant")) for id_, head in heads.items()}
    names = question_names({asked[id_]: head for id_, head in heads.items()}, without=field)
    found: dict[tuple[str, str], dict[str, Ratio]] = defaultdict(dict)
    for (id_, value), ratio in pairs.over(values[0]).items():
        who = heads[id_]["stack"] if field == "variant" else heads[id_]["who"]
        found[names[asked[id_]], who][value] = ratio
    return found
