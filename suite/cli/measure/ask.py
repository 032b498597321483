"""`./stackwars ask`: a question file, or one that the typed expressions make."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from suite.cli.measure import run
from suite.cli.options.ask import AskOptions
from suite.environments import say
from suite.errors import UserError


def ask(options: AskOptions) -> int:
    """Measures a question. Returns the exit code."""
    if not options.file and options.resume is None:
        text = options.question()
        path = Path(f"question_{hashlib.sha256(text.encode()).hexdigest()[:6]}.py")
        path.write_text(text, encoding="utf-8")
        say(f"The question is in {path}: change it, and `./stackwars ask {path}` asks it again.")
        return ask(options.without_words(str(path)))
    if len(options.file) > 1:
        raise UserError(f"One question at a time: {', '.join(options.file)} are several files.")
    if typed := [name for name in AskOptions.TYPED if options.file and getattr(options, name)]:
        raise UserError(f"--{typed[0]} types a question, and {options.file[0]} is one: choose.")
    if options.gradient:
        options = replace(options, pass_=(*options.pass_, "gradient"), gradient=False)
    # A check's times are nobody's answer, so other runs may go on beside it.
    return run.run(replace(options, preset="check", force=True) if options.check else options)
