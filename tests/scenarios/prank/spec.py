"""prank: a probe for the fake stack. Each size is a scene; prank_fake.py plays it."""

from __future__ import annotations

TITLE = "Scenes that a probe may see"
SIZES = {scene: {"n": 4} for scene in ("calm", "crash", "forgetful", "bug", "other")}
PASSES = ("forward",)
ASPECTS = {"double": "twice as much", "raise": "something is raised"}
FIGURES = {
    "seconds": ("s", "a call"),
    "right": ("count", "right numbers"),
    "traces": ("count", ""),
    "compiles": ("count", ""),
    "graph_breaks": ("count", ""),
    "fallback_ops": ("count", ""),
}
CLASSES = {"doubles": "it does", "doesn't": "it does something else"}
DOCUMENTED = {"double": {"fake": ("doubles", "https://example.org")}}


def classify(aspect, figures):
    return "doubles" if figures["right"] == 4 else "doesn't"
