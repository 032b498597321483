"""A Ray cluster on this machine, for tests: run in Ray's environment, told by lines what to do.

Prints the address once its head stands, and a word after each line: `stand 1 0` has two machines stand, of which one
offers a slot; `kill` ends one of them as if its power were cut; the end of the input ends all.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ray.cluster_utils import Cluster

# A process that is gone doesn't answer at once, however often it is asked; one that is slow has as long as ever.
SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}


def stand(cluster: Cluster, nodes: list[tuple[float, Any]], slots: Sequence[float]) -> None:
    """Has machines stand with so many slots each: those that do stay."""
    wanted = [*slots]
    for slot, node in [*nodes]:
        if slot in wanted:
            wanted.remove(slot)
        else:
            nodes.remove((slot, node))
            cluster.remove_node(node)
    nodes += [(slot, cluster.add_node(num_cpus=1, resources={"slot": slot} if slot else {})) for slot in wanted]
    cluster.wait_for_nodes(timeout=100)


def main() -> None:
    """A head that measures nothing, and machines as the lines say."""
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": SOON}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    print(cluster.address, flush=True)
    nodes: list[tuple[float, Any]] = []
    for line in sys.stdin:
        word, *slots = line.split()
        if word == "kill":
            cluster.remove_node(nodes.pop()[1], allow_graceful=False)
        else:
            stand(cluster, nodes, [float(slot) for slot in slots])
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
