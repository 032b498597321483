"""`python -m tests.sentences`: counts what is checked, and prints every sentence that isn't so with what is."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.sentences.check import wrong_in
from tests.sentences.findings import claims
from tests.sentences.kinds.held import KINDS
from tests.sentences.mutants import MUTANTS, made, true_of
from tests.sentences.spoken.corpus import SETS, everything
from tests.sentences.spoken.pages import ROOT
from tests.sentences.test_generated import EXAMPLES


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        spoken = everything(Path(folder))
        found = [*made(true_of(spoken))]
    wrong = [(spoken_, violations) for spoken_ in spoken if (violations := wrong_in(*spoken_))]
    told = [*claims((ROOT / "README.md").read_text(encoding="utf-8"))]
    said, false = Counter(kind for kind, *_ in spoken), Counter(kind for (kind, *_), _ in wrong)
    said["bullet"], false["bullet"] = len(told), sum(not is_so for _, is_so, _ in told)
    by_kind = Counter(mutant.kind for mutant, *_ in found)
    caught = Counter(mutant.kind for mutant, _, is_caught in found if is_caught)
    print(f"{'kind':14}{'sentences':>10}{'not so':>8}{'mutants':>9}{'caught':>8}")
    for kind in (*KINDS, "bullet"):
        print(f"{kind:14}{said[kind]:10}{false[kind]:8}{by_kind[kind]:9}{caught[kind]:8}")
    print(f"{'all':14}{said.total():10}{false.total():8}{len(MUTANTS):9}{caught.total():8}")
    for mutant, sentence, is_caught in found:
        if not is_caught:
            print(f"{'not caught' if sentence else 'no sentence to change'}: {mutant.kind}, {mutant.what}: {sentence}")
    print(f"{len(SETS)} kept sets, {len(KINDS) + 1} kinds of sentences; test_generated.py makes {EXAMPLES} sets")
    for (kind, sentence, truth), violations in wrong:
        print(f"\n{truth.folder.name}, {kind}: {sentence}")
        for violation in violations:
            print(f"  {violation.what}: says {violation.said}\n  true {violation.true}")
    for claim, is_so, true in told:
        if not is_so:
            print(f"\nREADME: {claim}\n  true {true}")
    return bool(wrong) or caught.total() < len(MUTANTS)


if __name__ == "__main__":
    sys.exit(main())
