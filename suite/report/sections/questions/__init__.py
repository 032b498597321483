"""The sections on processes outside the blocks: memory, its holders, profiles, programs, behaviour."""
