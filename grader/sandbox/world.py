"""What belongs to the whole process and has to be as it was after a call: the global generators, NumPy's error state, torch's settings.

Runs beside ``worker.py``. Everything is bound when a World is made, before a submission could replace the ways to look.
"""

from __future__ import annotations

import random

import numpy as np

SEED = 0x5EED


class Twin:
    """A global generator and one of its kind beside it. As long as nobody else draws from it or seeds it, both give the same numbers, and to draw is far cheaper than to read the state."""

    def __init__(self, draw, seed, other_draw, other_seed):
        self.draw, self.seed, self.other_draw, self.other_seed = draw, seed, other_draw, other_seed

    def agree(self):
        """Draw from both: the next call finds a state that no call had before, so that a function which seeds with a constant shows."""
        return self.draw() == self.other_draw()

    def align(self, number):
        """Seed both with a number where they disagree."""
        if not self.agree():
            self.seed(number)
            self.other_seed(number)


class World:
    """The global state, before a call and after it."""

    def __init__(self, torch=None):
        own, beside = random.Random(), np.random.RandomState()
        self.twins = {"random": Twin(random.random, random.seed, own.random, own.seed),
                      "numpy.random": Twin(np.random.random_sample, np.random.seed, beside.random_sample, beside.seed)}
        self.looks, self.seed_torch = {"numpy.errstate": np.geterr, "numpy.printoptions": np.get_printoptions, "denormal numbers": denormals}, None
        if torch is not None:
            self.seed_torch = torch.random.default_generator.manual_seed
            self.looks |= {"torch.random": torch.get_rng_state, "default_dtype": torch.get_default_dtype, "grad_mode": torch.is_grad_enabled,
                           "threads": torch.get_num_threads, "deterministic": torch.are_deterministic_algorithms_enabled,
                           "matmul_precision": torch.get_float32_matmul_precision, "default_device": torch.get_default_device,
                           "inference_mode": torch.is_inference_mode_enabled, "anomaly_mode": torch.is_anomaly_enabled}
        self.calls, self.seen = 0, {}

    def before(self):
        """Note the state that the coming call has to leave alone."""
        self.calls += 1
        for twin in self.twins.values():
            twin.align(SEED + self.calls)
        if self.seed_torch is not None:
            self.seed_torch(SEED + self.calls)
        self.seen = {name: still(look()) for name, look in self.looks.items()}

    def touched(self):
        """What the call changed."""
        changed = [name for name, look in self.looks.items() if still(look()) != self.seen[name]]
        return [name for name, twin in self.twins.items() if not twin.agree()] + changed


def denormals(smallest=5e-324, one=1.0):
    """Whether numbers below the normal ones are kept: ``torch.set_flush_denormal`` makes them 0 for everybody."""
    return smallest * one > 0


def still(state):
    """A copy that nobody changes any more."""
    if isinstance(state, dict):
        return tuple(state.items())
    return state.numpy().tobytes() if hasattr(state, "numpy") else state
