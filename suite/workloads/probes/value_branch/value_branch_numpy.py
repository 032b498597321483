"""NumPy: Python takes the branch."""


def run(stack, recorder):
    spec = recorder.spec
    spec.observe(recorder, "python_if", spec.python_if)
    spec.observe(recorder, "static", spec.static_if)
    recorder.lacks("remedy", "Python's if works in NumPy, so there is nothing to remedy")
