"""Answers of a set besides times: memory, programs, profiles and behaviour, question by question."""
