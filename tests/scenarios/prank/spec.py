"""prank: a probe for the fake stack. Each size is a scene; prank_fake.py plays it."""


def classify(aspect, figures):
    return "doubles" if figures["right"] == 4 else "doesn't"
