"""The one frame format between host and worker: a typed JSON header and raw arrays. No pickle, caps everywhere.

A frame is ``magic, header length (u32), payload length (u64), header, payload``. The header is JSON whose values are trees of
plain JSON scalars and one-key objects (``{"tuple": [...]}``, ``{"array": {...}}``, ...); an array names its slice of the payload.
This module runs on both sides and imports NumPy and the standard library alone.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MAGIC = b"ATG1"
PREFIX = struct.Struct("<4sIQ")
HEADER_CAP = 1 << 20
PAYLOAD_CAP = 256 << 20
DEPTH_CAP = 24
TEXT_CAP = 8192
AXES_CAP = 16
WRITTEN_AT_ONCE = 64  # pieces; a kernel takes some 1000

STORAGE = {  # dtype on the wire -> NumPy dtype of its bytes; bfloat16 travels as its 16 bits
    "bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "float16": "<f2", "bfloat16": "<u2",
    "float32": "<f4", "float64": "<f8", "complex64": "<c8", "complex128": "<c16",
}
ITEM = {name: np.dtype(storage).itemsize for name, storage in STORAGE.items()}
KINDS = ("tensor", "ndarray", "scalar")
OF_ARRAYS = ("dtype", "shape", "kind", "at", "size")


class WireError(Exception):
    """A frame that is not one: wrong magic, length, type, nesting or shape. Never a ValueError: a check may expect one of those."""


@dataclass(frozen=True)
class Array:
    """An array in transit: ``data`` holds the storage dtype's values, ``dtype`` the name both sides mean."""

    data: np.ndarray
    dtype: str
    kind: str = "tensor"
    extra: dict[str, Any] = field(default_factory=dict)  # layout wishes (host) or facts (worker), plain JSON


def arrays(value: Any) -> Iterator[Array]:
    """The arrays in a value, one after the other, as a worker builds them."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays(item)


@dataclass(frozen=True)
class Generator:
    """A random generator by seed: the worker builds it, so nothing but a number travels."""

    seed: int
    kind: str = "numpy"  # numpy | torch


@dataclass(frozen=True)
class Device:
    """A torch device by name."""

    name: str


@dataclass(frozen=True)
class Opaque:
    """A value that has no place on the wire; its type's name is all that is told."""

    type: str


def widen(bits: np.ndarray) -> np.ndarray:
    """bfloat16 bits (uint16) to float32, exactly."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values: np.ndarray) -> np.ndarray:
    """float values to bfloat16 bits, rounded to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(np.asarray(values, dtype=np.float32)), np.uint16(0x7FC0), rounded)


def pack(message: dict[str, Any]) -> list[bytes | memoryview]:
    """The pieces of one frame, to be written in order."""
    payload: list[memoryview] = []
    size = 0

    def store(data: np.ndarray) -> tuple[int, int]:
        nonlocal size
        flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        at, size = size, size + flat.nbytes
        if flat.nbytes:
            payload.append(flat.data)
        return at, flat.nbytes

    header = json.dumps({key: _plain(value, store, 0) for key, value in message.items()}, separators=(",", ":")).encode()
    if len(header) > HEADER_CAP or size > PAYLOAD_CAP:
        raise WireError(f"a frame of {len(header) + size} bytes is over the cap")
    return [PREFIX.pack(MAGIC, len(header), size) + header, *payload]


class Left:
    """What is still to be written of a frame; true while there is something."""

    def __init__(self, pieces: list[bytes | memoryview]):
        self._views = [memoryview(piece).cast("B") for piece in pieces]

    def __bool__(self) -> bool:
        return bool(self._views)

    def write(self, fd: int) -> None:
        """Write as much as the pipe takes, all pieces in one go: whoever reads is woken once. Raises OSError."""
        written = os.writev(fd, self._views[:WRITTEN_AT_ONCE])
        while self._views and written >= self._views[0].nbytes:
            written -= self._views.pop(0).nbytes
        if written:
            self._views[0] = self._views[0][written:]


def _plain(value: Any, store: Any, depth: int) -> Any:
    if depth > DEPTH_CAP:
        raise WireError(f"nested deeper than {DEPTH_CAP}")
    if value is None or type(value) in (bool, int, float):
        return value
    if type(value) is str:
        return value[:TEXT_CAP] if depth else value
    if type(value) in (tuple, list):
        return {type(value).__name__: [_plain(item, store, depth + 1) for item in value]}
    if type(value) is dict:
        return {"dict": [[str(key), _plain(item, store, depth + 1)] for key, item in value.items()]}
    if isinstance(value, Array):
        at, size = store(value.data)
        return {"array": {"dtype": value.dtype, "shape": list(value.data.shape), "kind": value.kind, "at": at, "size": size, **value.extra}}
    if isinstance(value, Generator):
        return {"generator": [value.kind, value.seed]}
    if isinstance(value, Device):
        return {"device": value.name}
    if isinstance(value, Opaque):
        return {"opaque": value.type[:200]}
    raise WireError(f"a {type(value).__name__} has no place on the wire")


def lengths(prefix: bytes) -> tuple[int, int]:
    """Header and payload length of a frame, checked against the caps."""
    magic, header, payload = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("not a frame")
    if not 2 <= header <= HEADER_CAP or payload > PAYLOAD_CAP:
        raise WireError("a frame's length is over the cap")
    return header, payload


def unpack(header: bytes, payload: bytes | bytearray) -> dict[str, Any]:
    """The message of one frame; raises WireError on anything that is not exactly one."""
    try:
        tree = json.loads(header.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError("a frame's header is not JSON") from error
    if type(tree) is not dict or len(tree) > 32:
        raise WireError("a frame's header is not an object")
    store = Payload(payload)
    return {key: _value(node, store, 0) for key, node in tree.items()}


class Payload:
    """The bytes behind a frame's arrays; all arrays together take no more than there are, so that a short frame makes nothing large."""

    def __init__(self, octets: bytes | bytearray):
        self._octets, self._left = octets, len(octets)

    def take(self, at: int, size: int) -> np.ndarray:
        """A view of some bytes."""
        self._left -= size
        if self._left < 0 or at + size > len(self._octets):
            raise WireError("an array's bytes are not there, or another array's")
        return np.frombuffer(self._octets, dtype=np.uint8, count=size, offset=at)


def _value(node: Any, payload: Payload, depth: int) -> Any:
    if depth > DEPTH_CAP:
        raise WireError(f"nested deeper than {DEPTH_CAP}")
    if node is None or type(node) in (bool, float, str):
        return node
    if type(node) is int and abs(node) < 1 << 64:
        return node
    if type(node) is not dict or len(node) != 1:
        raise WireError("a value of no known type")
    [(tag, body)] = node.items()
    if tag in ("tuple", "list") and type(body) is list:
        items = [_value(item, payload, depth + 1) for item in body]
        return tuple(items) if tag == "tuple" else items
    if tag == "dict" and type(body) is list and all(type(p) is list and len(p) == 2 and type(p[0]) is str for p in body):
        return {key: _value(item, payload, depth + 1) for key, item in body}
    if tag == "array" and type(body) is dict:
        return _array(body, payload)
    if tag == "generator" and type(body) is list and len(body) == 2 and body[0] in ("numpy", "torch") and type(body[1]) is int:
        return Generator(body[1], body[0])
    if tag == "device" and type(body) is str:
        return Device(body)
    if tag == "opaque" and type(body) is str:
        return Opaque(body[:200])
    raise WireError("a value of no known type")


def _array(body: dict[str, Any], payload: Payload) -> Array:
    dtype, shape, kind, at, size = (body.get(key) for key in OF_ARRAYS)
    if type(dtype) is not str or dtype not in STORAGE or kind not in KINDS or type(shape) is not list or len(shape) > AXES_CAP:
        raise WireError("an array of no known type")
    if kind == "scalar" and shape:
        raise WireError("a number with axes")
    if not all(type(n) is int and 0 <= n <= PAYLOAD_CAP for n in (*shape, at, size)):
        raise WireError("an array's shape or place is not a count")
    if math.prod(shape) * ITEM[dtype] != size:
        raise WireError("an array's bytes don't fit its shape")
    octets = payload.take(int(at), int(size))  # type: ignore[arg-type]  # counts, as was just checked
    try:
        data = (octets != 0 if dtype == "bool" else octets.copy().view(STORAGE[dtype])).reshape(shape)
    except ValueError as error:  # an empty array of a size that no machine could address
        raise WireError("an array's shape is beyond what an array can be") from error
    extra = {key: value for key, value in body.items() if key not in OF_ARRAYS} if len(body) > len(OF_ARRAYS) else {}
    if len(extra) > 8 or not all(_is_fact(value) for value in extra.values()):
        raise WireError("an array with facts of no known type")
    return Array(data, dtype, kind, extra)


def _is_fact(value: Any) -> bool:
    if type(value) is list:
        return len(value) <= AXES_CAP and all(type(item) is int for item in value)
    return value is None or type(value) in (bool, int) or (type(value) is str and len(value) <= 200)
