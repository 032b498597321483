"""NumPy: Python takes the branch."""


def python_if(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def static_if(x, double):
    if double:
        return x * 2
    return x - 1


def doubled(x):
    return x * 2


def run(stack, recorder):
    recorder.spec.ask(stack, recorder, "python_if", python_if, doubled)
    recorder.spec.ask(stack, recorder, "static", static_if, doubled)
    recorder.lacks("remedy", "Python's if needs none here")
