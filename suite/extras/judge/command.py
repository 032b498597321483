"""`./stackwars judge`: is a change of a question's functions faster, though its author isn't trusted?"""

from __future__ import annotations

from pathlib import Path

from suite.cli.terminal.output import print_json
from suite.cli.values import Force, Json, Names
from suite.environments import say
from suite.extras.judge.answer import EXIT_CODES, GRAVEST, fields, sentence
from suite.extras.judge.files import Judgement
from suite.machine import noise


def judge(before: str, after: str, *, stack: Names = (), force: Force = False, json: Json = False) -> int:
    """Judges functions against those of the same names in a question file. Returns the exit code: 0 faster, 1
    undecided, 3 wrong or cheats, 5 not faster; of several stacks the gravest.

    :param before: the question file, which is trusted: `judge before.py after.py`
    :param after: the file with the changed functions, and nothing else; it is run in a sandbox alone
    :param stack: the stacks (default: the first function's eager and compiled ones)
    """
    judgement = Judgement.of(Path(before), Path(after))
    found = []
    with noise.alone(force=force) as disturbances:
        for warning in disturbances:
            say(warning)
        for name, function in judgement.stacks(stack):
            trial = judgement.trial(name, function)
            trial.run()
            found.append(fields(name, function, trial))
            if not json:
                print(sentence(found[-1]))
    words = [each["verdict"] for each in found]
    word = next(word for word in GRAVEST if word in words)
    if json:
        print_json({"verdict": word, "exit_code": EXIT_CODES[word], "judged": found})
    return EXIT_CODES[word]
