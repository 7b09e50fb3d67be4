"""Which operator or function of a library does the work of a name that is off limits, by its own name. Beside ``offlimits.py``."""

TELLING = 8  # letters: a shorter name would stand inside too many others


class Sought(dict):
    """For an operator's bare name: the first of some names whose words all stand in it in their order, whatever stands between; None without one.

    There are thousands of operators, most with several overloads: each name is looked at once. (What is kept are strings: lists would wake the collector.)
    """

    def __init__(self, names):
        self.names = [(name, name.split("_"), name.replace("_", "").lower()) for name in names if len(name) >= TELLING]

    def __missing__(self, bare):
        parts, squeezed = bare.split("_"), bare.replace("_", "").lower()
        self[bare] = next((name for name, words, letters in self.names if letters in squeezed or in_order(words, parts)), None)
        return self[bare]


class Alike(Sought):
    """For a Python function of the framework: the first of some names whose work it does as a decomposition, a reference or a fused form, by its name."""

    def __missing__(self, function):
        bare = function.strip("_").removeprefix("native_")
        parts = bare.split("_")
        self[function] = next((name for name, words, _ in self.names if bare == name or (len(words) > 1 and in_order(words, parts))), None)
        return self[function]


class Worded(dict):
    """For a Python function of any library: the first of some names that stands in its own as a word."""

    def __init__(self, names):
        self.names = list(names)

    def __missing__(self, function):
        parts = function.strip("_").split("_")
        self[function] = next((name for name in self.names if name in parts and "backward" not in parts), None)
        return self[function]


def in_order(words, parts):
    """Whether all words stand among the parts in their order."""
    left = iter(parts)
    return words[-1] in parts and all(word in left for word in words)
