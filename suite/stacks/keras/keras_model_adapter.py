"""A question's own Keras model, on any backend: with its own loss and optimizer, by Keras's trainer."""

from __future__ import annotations


class OfFile:
    """Mixed into a backend's adapter. Weights have the names that the dialect gives them, since Keras's own depend on
    how many layers a process has made."""

    def make_model(self, dialect):
        self.dialect = dialect
        model = super().make_model(dialect)
        self.takes = dialect.takes(model, self.workload.arguments(self.dims))  # once, not in each timed call
        return dialect.with_loss(model) if self.train else model

    def new_model(self, dialect):
        return dialect.model(self.workload.arguments(self.dims))

    def build(self, abstract=False):
        super().build(abstract)
        variables = self.model.optimizer.variables if self.train and self.optimizer else ()
        self.fresh = [(variable, self.keras.ops.convert_to_numpy(variable.value)) for variable in variables]

    def loss(self, dialect):
        return None  # `with_loss` has it

    def named_variables(self):
        known = {*self.tensors.parameters, *self.tensors.buffers}
        named = [*zip(self.dialect.names(self.model), self.model.weights, strict=True)]
        self.paths = {variable.path: name for name, variable in named}
        return {name: variable for name, variable in named if name in known}

    def canonical_name(self, path):
        return self.paths[path]

    def make_optimizer(self):
        return self.dialect.optimizer()

    def reset(self, moments):
        for variable, value in self.fresh:
            variable.assign(value)
        self.model.reset_metrics()

    def split(self, batch):
        return self.dialect.split(self.takes, self.dialect.of_inputs(batch))
