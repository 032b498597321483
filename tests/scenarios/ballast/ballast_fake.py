"""Allocates as it is told: 40 MiB when placing, 20 MiB for each sample when stepping."""

MIB = 1 << 20


class Scenario:
    """Hooks that the fake adapter calls; the variant `broken` fails at a batch of 4 for another reason than memory."""

    def __init__(self, case):
        self.batch, self.variant = case.dims["batch"], case.variant

    def place(self):
        self.placed = bytearray(b"x" * MIB) * 40

    def step(self, count):
        if self.variant == "broken" and self.batch >= 4:
            raise ValueError("this batch has no meaning")
        self.activations = None  # those of the step before
        self.activations = bytearray(b"x" * MIB) * (20 * self.batch)
