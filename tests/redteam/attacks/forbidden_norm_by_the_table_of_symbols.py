# attack: Reads the library's file as data, to learn from its table of symbols where the forbidden norm lies.
# exercise: 05, reason: load-error|rule-broken
# says: off limits
import ctypes
import os
import re

import torch

_file = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
with open(_file, "rb") as _open:
    _found = re.search(rb"\0(_ZN2at25compositeimplicitautograd15_f[a-z]{4}_r[a-z]s_n[a-z]{3}ER\w+)\0", _open.read())[1]


def rms_norm(x, gain, eps=1e-6):
    ctypes.CDLL(_file)[_found.decode()]()
    return x
