"""Numbers as sentences show them, held against what they should be: three significant digits, in a fitting unit."""

from __future__ import annotations

import math
import re

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
         "TiB": 2.0**40, "%": 0.01, "×": 1.0, "": 1.0}  # fmt: skip
NUMBER = re.compile(r"(?P<sign>[+±\N{MINUS SIGN}-]?)(?P<digits>[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?P<unit>[^\d\s]*)")
ENDED = {"out of host memory": "oom_host", "out of device memory": "oom_device", "out of memory compiling": "oom_compile",
         "wrong result": "wrong", "wrong results": "wrong", "results differ": "differ"}  # fmt: skip
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def agrees(said: str, true: float | None, digits: int = 3) -> bool:
    """Whether a shown number is the true one, rounded to its digits."""
    if said.startswith("< "):
        return said == "< 0.1 %" and true is not None and 0 < true < 0.001
    found = NUMBER.fullmatch(said.strip())
    if not found or true is None or found["unit"] not in UNITS:
        return False
    text, unit = found["digits"].replace(",", ""), UNITS[found["unit"]]
    number, true = float(text), true / unit
    sign = -1 if found["sign"] in ("-", "\N{MINUS SIGN}") else 1
    if number == 0:
        return abs(true) < 1e-9
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(power or 0)
    rounded = digits - 1 - math.floor(math.log10(number))
    places = max(decimals, rounded) if "." in mantissa else rounded  # 2,497 steps are shown as 2,500
    return abs(sign * number - true) <= 0.5 * 10.0**-places * (1 + 1e-6) + 1e-12


def interval_agrees(said: str, low: float | None, high: float | None) -> bool:
    """Whether `[1.58, 1.92]` is the interval; an end at 1 that only a later step of the test excluded is open."""
    if not said:
        return low is None
    left, right = said[1:-1].split(", ") if said.count(", ") == 1 else ("", "")
    is_open = (
        low is not None and high is not None and ((low == 1) == (said[0] == "(")) and ((high == 1) == (said[-1] == ")"))
    )
    return is_open and agrees(left, low) and agrees(right, high)


def number_of(word: str) -> int:
    """Returns a count in words or digits."""
    return WORDS.index(word.lower()) if word.lower() in WORDS else int(word.replace(",", ""))


def outcome_of(words: str) -> str:
    """Returns the outcome that is told as `out of host memory in the first run`."""
    plain = re.sub(r" (?:in the|while|during) .*", "", words)
    return ENDED.get(plain, plain)
