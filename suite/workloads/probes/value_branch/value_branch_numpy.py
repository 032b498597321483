"""NumPy: Python takes the branch."""


def run(stack, recorder):
    spec = recorder.spec
    spec.ask(recorder, "python_if", spec.python_if)
    spec.ask(recorder, "static", spec.static_if)
    recorder.lacks("remedy", "Python's if needs none here")
