"""Our PyTorch models against those of Hugging Face's transformers: the same train step, only the model differs.

Asked: ours / theirs at most 1.03 with the interval's upper end, its half-width at most 2 %. Run in the
environment `oracle`, see benchmarks/README.md.
"""

from __future__ import annotations

from typing import Any

from benchmarks.race import Theirs, arguments, race


def on(adapter: type[Any], attention: str) -> type[Any]:
    """Our adapter with their model: optimizer, compiling and the step itself are inherited."""

    class Transformers(Theirs, adapter):  # type: ignore[misc]
        def __str__(self) -> str:
            import transformers

            return f"transformers {transformers.__version__}, attention {attention}"

        def build(self, abstract: bool = False) -> None:
            from torch.nn.functional import cross_entropy

            from suite.jobs.golden import Oracle

            self.oracle = Oracle(self.workload, self.dims, self.torch.float32)
            self.model, logits = self.oracle.model.train(), self.oracle.logits
            self.model.set_attn_implementation(attention)  # the oracle itself may ask for another

            def loss(target: Any, **inputs: Any) -> Any:
                return cross_entropy(logits(self.model, **inputs).flatten(0, -2), target.flatten())

            self.loss, self.run = self.compile(loss), self.train_step

        def place(self, parameters: Any, batch: Any) -> tuple[Any, Any]:
            self.oracle.place()  # the canonical weights, by their names
            placed = {name: self.put_input(value) for name, value in batch}
            # The oracle takes channels last and turns that into a view with channels first: back to contiguous.
            placed = {name: value.permute(0, 2, 3, 1) if value.ndim == 4 else value for name, value in placed.items()}
            return (self.model, self.make_optimizer(self.model.parameters())), placed

    return Transformers


def main() -> None:
    parser = arguments(__doc__, ("torch_eager", "torch_inductor"))
    parser.add_argument("--attention", default="sdpa", help="theirs: sdpa, or eager for a model without")
    options = parser.parse_args()
    race(options, lambda ours: on(type(ours), options.attention)(ours))


if __name__ == "__main__":
    main()
