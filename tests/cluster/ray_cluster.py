"""A Ray cluster on this machine, for tests: run in Ray's environment, told by lines what to do.

Prints the address once it stands. `kill` ends one of the machines as if its power were cut; the end of the input, all.
"""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster


def main(slots: list[float]) -> None:
    """A head that measures nothing, and machines with so many slots each."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    offers = ({"slot": count} if count else {} for count in slots)
    nodes = [cluster.add_node(num_cpus=1, resources=resources) for resources in offers]
    cluster.wait_for_nodes(timeout=100)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line.strip() == "kill":
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            print("killed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main([float(text) for text in sys.argv[1:]])
