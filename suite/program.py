"""The `invoke` command of this project: invoke's own, with exit codes that a script can rely on.

0 every planned case ended as a result, 2 usage, 3 some case is `error`, `crashed` or `wrong`, 130 interrupted.
"""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

from invoke.collection import Collection
from invoke.exceptions import CollectionNotFound, ParseError, UnexpectedExit
from invoke.exceptions import Exit as Leave
from invoke.program import Program

from suite.errors import UserError

ROOT = Path(__file__).parent.parent
USAGE, INTERRUPTED = 2, 130


class Commands(Program):
    """invoke exits 1 on an unknown option or task; here every usage mistake is 2, with the near match."""

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Parse and run. Never shows a traceback for what a person can mend."""
        try:
            self.create_config()
            self.parse_core(argv)
            self.parse_collection()
            self.parse_tasks()
            self.refuse_missing_value()
            self.parse_cleanup()
            self.execute()
        except ParseError as mistake:
            self.leave(USAGE, f"{mistake}{self.hint(str(mistake))}")
        except CollectionNotFound as mistake:
            self.leave(USAGE, f"No tasks were found in {mistake.start}.")
        except UserError as mistake:
            self.leave(USAGE, str(mistake))
        except Leave as end:
            self.leave(end.code, end.message or "")
        except UnexpectedExit as failed:
            self.leave(failed.result.exited, "")
        except KeyboardInterrupt:
            self.leave(INTERRUPTED, "Interrupted.")

    def refuse_missing_value(self) -> None:
        """`--stack` at the end of the line: invoke takes a repeatable option without a value for an empty list."""
        last = self.argv[-1]
        for context in self.tasks:
            if last in context.flags and context.flags[last].takes_value:
                raise ParseError(f"{last} needs a value, like {last}=NAME.", context)

    def leave(self, code: int, text: str) -> None:
        """Say why on standard error, and exit."""
        if text:
            print(text, file=sys.stderr)
        sys.exit(code)

    def hint(self, mistake: str) -> str:
        """The nearest option or task to the one that wasn't understood."""
        found = re.search(r"No idea what '([^'=]+)", mistake)
        if not found:
            return ""
        twice = next((a.partition("=")[0] for a in self.argv if a.endswith(f"={found[1]}")), None)
        if twice:
            return f" {twice} is given more than once."
        word, known = found[1], list(self.collection.task_names)
        contexts = {context.name: context for context in self.collection.to_contexts()}
        asked = next((contexts[a] for a in self.argv if a in contexts), None)
        if word.startswith("-") and asked is not None:
            known = [flag for flag in asked.flags if flag.startswith("--")]
        near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
        where = f"`invoke --help {asked.name}` lists them." if asked else "`invoke --list` lists the tasks."
        return f" Did you mean '{near[0]}'? {where}" if near else f" {where}"


def main() -> None:
    """The console script. Tasks are those of this project, from whichever folder it is called."""
    sys.path.insert(0, str(ROOT))
    import tasks

    namespace = Collection.from_module(tasks)
    Commands(name="invoke", binary="invoke", namespace=namespace, version="0.1.0").run()
