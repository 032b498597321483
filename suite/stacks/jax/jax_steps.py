"""Steps that a question brings, in JAX: its setup makes the state, which is donated to each step."""

from __future__ import annotations

from suite.stacks import base


class OwnStep:
    """Mixed into an adapter of JAX. State: the file's own, by name."""

    def build(self, abstract=False):
        if abstract:
            raise base.Unsupported("a step of the file's own needs arrays")
        self.form = self.code()
        self.call = self.program = self.compile(self.form.advance, donate_argnums=(0,))

    def arguments(self, state, batch):
        return state, batch

    def place(self, parameters, batch, moments=True):
        values, batch = ({name: self.put_named(name, value) for name, value in each} for each in (parameters, batch))
        return self.jax.block_until_ready((self.form.start(values, batch), batch))

    def read(self, what, state, batch):
        return {name: base.plain(value) for name, value in self.form.values(state).items()}
