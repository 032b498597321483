"""The gradient of a thousand small steps of bodies that pull at each other. kemasuda/jnkepler#18"""

import jax

from suite.ask import normal


def inputs(bodies=4, steps=1_000):
    return {"place": normal(bodies, 3), "speed": normal(bodies, 3, sigma=0.1), "steps": steps}


def moved(place, speed):
    gaps = place[:, None] - place
    near = ((gaps * gaps).sum(-1) + 0.1) ** -1.5
    speed = speed - 1e-3 * (gaps * near[..., None]).sum(1)
    return place + 1e-3 * speed, speed


def jax_scan(place, speed, steps):
    return jax.lax.scan(lambda state, _: (moved(*state), None), (place, speed), length=steps)[0][0]


def torch_loop(place, speed, steps):
    for _ in range(steps):
        place, speed = moved(place, speed)
    return place


NOT_ON = {"torch_inductor": "it unrolls the loop, and compiles for minutes"}
