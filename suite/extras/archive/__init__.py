"""Archives, which are folders or buckets of published sets: `Storage` reads and writes one, the other modules publish,
list, fetch, verify and sign sets."""
