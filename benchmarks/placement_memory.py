"""Computes from a finished result set how much host memory it takes to place a model, beyond the model itself.

Required of a forward pass: a peak of memory, up to the end of placing, of at most P plus the largest tensor plus 1 GiB
for Python and the framework. P is the size of all parameters and buffers. Training steps are left out, since they add
the optimizer's state. benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from suite.errors import UserError
from suite.sets.parquet import read_rows
from suite.workloads.catalog import find

GIB = 1 << 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="a result set with forward passes")
    workloads = find()
    for row in read_rows(parser.parse_args().set / "results.parquet"):
        if row["pass"] != "forward" or row["host_peak_build_bytes"] is None:
            continue
        case = row.case
        made = workloads[case.workload].tensors(case.dims, "forward")
        tensors = (made.parameters | made.buffers).values()
        model, largest = sum(t.nbytes for t in tensors), max(t.nbytes for t in tensors)
        peak = row["host_peak_build_bytes"]
        beyond = (peak - model - largest) / GIB
        sizes = ", ".join(
            f"{name} {size / GIB:.2f} GiB" for name, size in (("P", model), ("largest", largest), ("peak", peak))
        )
        print(f"{row['case_name']}: {sizes}; {beyond:+.2f} GiB beyond both{'' if beyond <= 1 else ', more than 1 GiB'}")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
