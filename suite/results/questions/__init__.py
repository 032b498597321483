"""What a set shows besides times, question by question: memory, programs, profiles, behaviour, predictions."""
