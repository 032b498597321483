"""Links of the documentation's site, for MkDocs: those that lead out of docs/, to the repository, where its address is
set; and to notebooks, on GitHub also to where they can be run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GITHUB = "https://github.com/"
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Returns a page whose links to files outside of docs/ lead to `repo_url`, or are plain text without one."""
    docs = Path(config["docs_dir"])
    folder = (docs / page.file.src_uri).parent

    def led(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs) and target.suffix in (".md", ".png"):
            return link[0]
        if not target.exists():
            raise FileNotFoundError(f"{page.file.src_uri}: no {link[2]}")
        address = str(config["repo_url"] or "").rstrip("/")
        if target.suffix == ".ipynb" and address.startswith(GITHUB):
            place = f"{address}/blob/main/{target.relative_to(docs.parent)}"
            colab = f"https://colab.research.google.com/github/{place.removeprefix(GITHUB)}"
            return f"[{link[1]}]({place}) ([Colab]({colab}), [Kaggle](https://kaggle.com/kernels/welcome?src={place}))"
        return f"[{link[1]}]({address}/blob/main/{target.relative_to(docs.parent)})" if address else link[1]

    return LINK.sub(led, markdown)
