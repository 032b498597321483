"""What differs between two stacks' programs, in sentences that rest on counts."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest

from suite.ir.findings import StackPrograms, findings
from suite.ir.summary import Program, written
from tests.ir.programs import compiled, contents, program, stack_programs

GIB = 2**30


def test_equal_programs_differ_in_nothing() -> None:
    assert findings(stack_programs("jax_jit"), stack_programs("tf_xla")) == []


@pytest.mark.parametrize(
    ("changes", "sentence", "counts"),
    [
        (
            {"kept": 149, "kept_bytes": GIB // 2 + 4},
            "torch_xla keeps 149 results alive beside the arguments, 512 MiB more than jax_jit with its 1.",
            (("results kept", "1", "149"), ("their size", "4.00 B", "512 MiB")),
        ),
        (
            {"aliased": 0, "aliased_bytes": 0},
            "jax_jit lets 2 results take the place of arguments (2.00 KiB), torch_xla 0 (0 B).",
            (("results in place", "2", "0"), ("their size", "2.00 KiB", "0 B")),
        ),
        (
            {"arguments": 9},
            "jax_jit's program takes 4 arguments of 4.00 KiB, torch_xla's 9 of 4.00 KiB.",
            (("arguments", "4", "9"), ("their size", "4.00 KiB", "4.00 KiB")),
        ),
        (
            {"regions": (("layer norm", "batch_norm_training", 25),)},
            "Layer norm: jax_jit 25 × enumerated: squared differences; torch_xla 25 × batch_norm_training.",
            (("layer norm", "25", "25"),),
        ),
        (
            {"regions": ()},
            "Layer norm: jax_jit 25 × enumerated: squared differences; torch_xla has none that is recognised.",
            (("layer norm", "25", "0"),),
        ),
        (
            {"ranks": {"2": 18, "3": 12}},
            "Products: jax_jit has 30 of 3 dimensions; torch_xla has 18 of 2 and 12 of 3 dimensions.",
            (("with 2 dimensions", "0", "18"), ("with 3 dimensions", "30", "12")),
        ),
        (
            {"operations": {"add": 60, "dot_general": 30, "reshape": 110}},
            "torch_xla hands over 200 operations, 2.00 × jax_jit's 100: reshape +100.",
            (("operations", "100", "200"), ("reshape", "10", "110")),
        ),
    ],
)
def test_a_difference_is_told_with_its_counts(changes: dict[str, Any], sentence: str, counts: Any) -> None:
    (found,) = findings(stack_programs("jax_jit"), stack_programs("torch_xla", **changes))
    assert (found.text, found.counts) == (sentence, counts)


def test_a_second_program_is_told_and_the_last_large_one_is_the_step_s() -> None:
    small = Program(name="x", steps=("second",), told_by="", contents=contents(operations={"add": 1}))
    two = stack_programs("torch_xla", program("first"), program("second", arguments=5), small)
    assert two.step.steps == ("second",)
    assert two.step.contents is not None and two.step.contents.arguments == 5
    texts = [finding.text for finding in findings(stack_programs("jax_jit"), two)]
    assert texts[0] == "torch_xla compiles 2 programs of a whole step (in its first and second step), jax_jit 1."


def test_what_the_compiler_makes_of_it_is_told() -> None:
    more = Program(
        name="x",
        steps=("first",),
        told_by="",
        contents=contents(),
        compiled=compiled(kernels=100, runs={"fusion": 60, "copy": 40}),
    )
    (found,) = findings(stack_programs("jax_jit"), StackPrograms("torch_xla", (more,)))
    assert found.text == "Compiled, a step of torch_xla's runs 100 operations, jax_jit's 50."
    assert {name: (a, b) for name, a, b in found.counts}["copy"] == ("0", "40")


def test_generated_code_is_no_program_of_xla_s() -> None:
    generated = StackPrograms(
        "torch_inductor", (Program(name="x", steps=("first",), told_by="", kernels={"cpp_fused": 3}),)
    )
    with pytest.raises(ValueError, match="generated code"):
        findings(stack_programs("jax_jit"), generated)


def test_a_summary_is_read_as_it_was_written() -> None:
    programs = [program(), Program(name="x", steps=("first",), told_by="y", kernels={"cpp_fused": 3})]
    assert msgspec.json.decode(written(programs), type=list[Program]) == programs


def test_programs_of_sets_from_before_they_could_be_unread_are_whole() -> None:
    fields = dataclasses.asdict(program())
    del fields["unread"]
    assert msgspec.convert(fields, Program) == program()
