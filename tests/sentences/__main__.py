"""`python -m tests.sentences`: counts what is checked, and prints every sentence that isn't so with what is."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.sentences.check import wrong_in
from tests.sentences.kinds.held import KINDS
from tests.sentences.mutants import made, true_of
from tests.sentences.spoken.product import SETS, everything


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        spoken = everything(Path(folder))
        found = [*made(true_of(spoken))]
    wrong = [violation for each in spoken for violation in wrong_in(*each)]
    said, false = Counter(kind for kind, *_ in spoken), Counter(kind for kind, *_ in {w[:2] for w in wrong})
    by_kind, caught = Counter(each.kind for each in found), Counter(each.kind for each in found if each.caught)
    print(f"{'kind':14}{'sentences':>10}{'not so':>8}{'mutants':>9}{'caught':>8}")
    for kind in KINDS:
        print(f"{kind:14}{said[kind]:10}{false[kind]:8}{by_kind[kind]:9}{caught[kind]:8}")
    print(
        f"{'all':14}{said.total():10}{false.total():8}{by_kind.total():9}{caught.total():8}  in {len(SETS)} kept sets"
    )
    for each in found:
        if not each.caught:
            print(f"{'not caught' if each.sentence else 'unmade'}: {each.kind}, {each.what}: {each.sentence}")
    print("", *wrong, sep="\n")
    return bool(false.total()) or caught.total() < by_kind.total()


if __name__ == "__main__":
    sys.exit(main())
