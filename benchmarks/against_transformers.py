"""Races our PyTorch models against those of Hugging Face's transformers: the two steps differ only in the model.

Required of ours / theirs: an interval whose upper end is at most 1.03, and whose half-width is at most 2 %. Runs in the
environment `oracle`; benchmarks/README.md shows the command.
"""

from __future__ import annotations

from typing import Any

from benchmarks.race import Theirs, arguments, race


def on(adapter: type[Any], attention: str | None) -> type[Any]:
    """Returns our adapter with their model. Optimizer, compiling and step are inherited from ours."""

    class Transformers(Theirs, adapter):  # type: ignore[misc]
        def __str__(self) -> str:
            import transformers

            used = self.model.config._attn_implementation
            return f"transformers {transformers.__version__}, attn_implementation {used}"

        def build(self, abstract: bool = False) -> None:
            from torch.nn.functional import cross_entropy

            from tools.oracle import Oracle

            self.oracle = Oracle(self.workload, self.dims, self.torch.float32)
            self.model, logits = self.oracle.model.train(), self.oracle.logits
            # The oracle uses the plain attention; sdpa is the fastest, for models that support it.
            best = "sdpa" if self.model._supports_sdpa else None
            if attention or best:
                self.model.set_attn_implementation(attention or best)

            def loss(target: Any, **inputs: Any) -> Any:
                return cross_entropy(logits(self.model, **inputs).flatten(0, -2), target.flatten())

            self.loss, self.run = self.compile(loss), self.train_step

        def place(self, parameters: Any, batch: Any, moments: bool = True) -> tuple[Any, Any]:
            self.oracle.place()  # the canonical weights, by their names
            placed = {name: self.put_input(name, value) for name, value in batch}
            # The oracle permutes images from channels last to channels first. It gets a channels-last view of a
            # contiguous channels-first image, so that it computes on contiguous images, as our model does.
            placed = {name: value.permute(0, 2, 3, 1) if value.ndim == 4 else value for name, value in placed.items()}
            return (self.model, self.make_optimizer(self.model.parameters())), placed

    return Transformers


def main() -> None:
    parser = arguments(__doc__, ("torch_eager", "torch_inductor"))
    parser.add_argument("--attention", help="theirs: sdpa or eager (default: sdpa if the model supports it)")
    options = parser.parse_args()
    race(options, lambda ours: on(type(ours), options.attention)(ours))


if __name__ == "__main__":
    main()
