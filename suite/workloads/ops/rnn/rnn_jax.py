"""rnn in JAX. Legend: B = batch, S = seq, D = width, H = hidden, G = 4*H, P = S*B rows."""

import jax
import jax.numpy as jnp


def forward(dims, parameters, x):
    lstm, (B, S, D) = parameters["lstm"], x.shape
    # The inputs' part of all steps is one product: only the recurrence has to be in the scan, whose steps come first.
    # Of two axes: XLA on CPUs sums a bfloat16 gradient over two axes, batch and steps, less exactly than over one.
    x_PD = jnp.swapaxes(x, 0, 1).reshape(S * B, D)
    gates_SBG = (x_PD @ lstm["weight_ih_l0"] + lstm["bias_ih_l0"]).reshape(S, B, -1)
    # A scan sums its weight's gradient over the steps in the weight's type, and bfloat16 is too coarse for 512 of them.
    h_SBH = recurrence(gates_SBG, lstm["weight_hh_l0"].astype(jnp.float32))
    return jnp.swapaxes(h_SBH, 0, 1)


@jax.jit  # op by op, a scan over a new closure would be compiled in each call
def recurrence(gates_SBG, u_HG):
    dtype = gates_SBG.dtype

    def step(state, gates_BG):
        h_BH, c_BH = state
        i_BH, f_BH, g_BH, o_BH = jnp.split(gates_BG + h_BH @ u_HG.astype(dtype), 4, axis=-1)
        c_BH = jax.nn.sigmoid(f_BH) * c_BH + jax.nn.sigmoid(i_BH) * jnp.tanh(g_BH)
        h_BH = jax.nn.sigmoid(o_BH) * jnp.tanh(c_BH)
        return (h_BH, c_BH), h_BH

    zeros_BH = jnp.zeros((gates_SBG.shape[1], u_HG.shape[0]), dtype)
    _, h_SBH = jax.lax.scan(step, (zeros_BH, zeros_BH), gates_SBG)
    return h_SBH


def loss(dims, parameters, x, target):
    return jnp.mean(jnp.square(forward(dims, parameters, x) - target))
