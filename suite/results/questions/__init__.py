"""What a set answers besides times: memory, programs, profiles and behaviour, question by question."""
