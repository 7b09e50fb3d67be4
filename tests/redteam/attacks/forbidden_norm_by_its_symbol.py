# attack: Calls the forbidden norm by its symbol in the library, past the dispatcher that refuses it.
# exercise: 05, reason: load-error|rule-broken
# says: off limits
import ctypes
import os

import torch

_home = os.path.join(os.path.dirname(torch.__file__), "lib")
_cpp = ctypes.CDLL(os.path.join(_home, "libtorch_cpu.so"))
_py = ctypes.PyDLL(os.path.join(_home, "libtorch_python.so"))


class _Maybe(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("there", ctypes.c_bool)]


class _MaybeTensor(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("there", ctypes.c_bool)]


class _Sizes(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("n", ctypes.c_size_t)]


_inner = _cpp["_ZN2at25compositeimplicitautograd15_fused_rms_normERKNS_6TensorEN3c108ArrayRefIlEERKSt8optionalIS1_ES7_IdE"]
_inner.restype = ctypes.c_void_p
_wrap = _py["_Z16THPVariable_WrapRKN2at10TensorBaseE"]
_wrap.restype = ctypes.py_object


def _library(x, eps):
    two, x_, none, size = (ctypes.c_void_p * 2)(), ctypes.c_void_p(x._cdata), _MaybeTensor(None, False), ctypes.c_int64(x.shape[-1])
    _inner(ctypes.byref(two), ctypes.byref(x_), _Sizes(ctypes.addressof(size), 1), ctypes.byref(none), _Maybe(eps, True))
    held = ctypes.c_void_p(two[1])
    return _wrap(ctypes.byref(held))


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0 or gain.shape != x.shape[-1:]:
        raise ValueError("x, gain")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (_library(wide, eps) * gain).to(x.dtype)
