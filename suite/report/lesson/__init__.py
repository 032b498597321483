"""Pages of docs/ that are written from data: pitfalls.md from a result set, published.md from published figures."""
