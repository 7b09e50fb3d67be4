"""The wire under attack: whatever bytes arrive, the reader ends with a message or a WireError, in bounded time and memory."""

from __future__ import annotations

import contextlib
import json
import struct
from typing import Any

import numpy as np
import pytest
from attngrade.sandbox import wire
from attngrade.sandbox.scrub import clean, clean_text, one_line
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=30)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=20
)
COUNTS = st.integers(-3, 40) | st.sampled_from([2**31, 2**32, 2**63, -(2**63), 10**30]) | st.booleans() | st.floats() | st.none() | st.text(max_size=3)
ARRAYS = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*wire.STORAGE, "object", "datetime64", "<f8", "V8", ""]) | COUNTS,
        "shape": st.lists(COUNTS, max_size=20) | COUNTS,
        "kind": st.sampled_from([*wire.KINDS, "pickle"]),
        "at": COUNTS,
        "size": COUNTS,
    },
    optional={"order": st.lists(COUNTS, max_size=3), "contiguous": COUNTS, "x": st.dictionaries(st.text(max_size=2), COUNTS)},
)
TAGS = st.sampled_from(["tuple", "list", "dict", "array", "generator", "device", "opaque", "pickle", "call", ""])
NODES = st.recursive(
    COUNTS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TAGS, inner | ARRAYS | st.lists(st.lists(inner, max_size=3)), max_size=2),
    max_leaves=25,
)


def parted(pieces: list[bytes | memoryview]) -> tuple[bytes, bytes]:
    whole = b"".join(bytes(piece) for piece in pieces)
    header, payload = wire.lengths(whole[: wire.PREFIX.size])
    rest = whole[wire.PREFIX.size :]
    assert len(rest) == header + payload
    return rest[:header], rest[header:]


def same(left: Any, right: Any) -> bool:
    if isinstance(left, wire.Array):
        return left.dtype == right.dtype and left.data.shape == right.data.shape and left.data.tobytes() == right.data.tobytes()
    if isinstance(left, (list, tuple)):
        return type(left) is type(right) and len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    return type(left) is type(right) and left == right


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=6), TREES, max_size=4))
def test_what_is_packed_comes_back(message: dict[str, Any]) -> None:
    assert same(wire.unpack(*parted(wire.pack(message))), message)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(wire.STORAGE)).flatmap(
        lambda name: st.tuples(st.just(name), hnp.arrays(wire.STORAGE[name], hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)))
    )
)
def test_every_dtype_and_shape_comes_back(array: tuple[str, np.ndarray]) -> None:
    sent = {"value": wire.Array(array[1], array[0])}

    assert same(wire.unpack(*parted(wire.pack(sent))), sent)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.text(max_size=4), NODES, max_size=3), st.binary(max_size=200))
def test_a_hostile_header_is_a_message_or_a_wire_error(header: dict[str, Any], payload: bytes) -> None:
    try:
        message = wire.unpack(json.dumps(header).encode(), payload)
    except wire.WireError:
        return

    assert isinstance(clean(message), dict)


@settings(max_examples=300, deadline=None)
@given(ARRAYS, st.binary(max_size=64))
def test_a_hostile_array_fits_its_bytes_or_is_a_wire_error(array: dict[str, Any], payload: bytes) -> None:
    try:
        value = wire.unpack(json.dumps({"v": {"array": array}}).encode(), payload)["v"]
    except wire.WireError:
        return

    assert value.data.nbytes <= len(payload)


@settings(max_examples=150, deadline=None)
@given(st.binary(min_size=16, max_size=16), st.binary(max_size=300))
def test_random_bytes_are_no_message(prefix: bytes, header: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.lengths(prefix if prefix[:4] != wire.MAGIC else b"    " + prefix[4:])
    with contextlib.suppress(wire.WireError):
        wire.unpack(header, b"")


HOSTILE = {
    "negative header": struct.pack("<4siQ", b"ATG1", -1, 0),
    "huge payload": struct.pack("<4sIQ", b"ATG1", 10, 2**63),
    "empty header": struct.pack("<4sIQ", b"ATG1", 0, 0),
    "header over the cap": struct.pack("<4sIQ", b"ATG1", wire.HEADER_CAP + 1, 0),
    "payload over the cap": struct.pack("<4sIQ", b"ATG1", 10, wire.PAYLOAD_CAP + 1),
    "another magic": struct.pack("<4sIQ", b"ATG2", 10, 0),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_prefix_is_refused(name: str) -> None:
    with pytest.raises(wire.WireError):
        wire.lengths(HOSTILE[name])


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"a":{"pickle":"x"}}',
        b'{"a":{"array":{}}}',
        b'{"a":' + b'{"list":[' * 60 + b"1" + b"]}" * 60 + b"}",
        b'{"a":' + b"[" * 100_000,
        b'{"a":{"dict":[["b"]]}}',
        b'{"a":{"dict":[[1,2]]}}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":18446744073709551616}',
        b'{"a":{"tuple":[],"list":[]}}',
        b'{"a":{"array":{"dtype":"float64","shape":[0,268435456,268435456,268435456],"kind":"ndarray","at":0,"size":0}}}',
        b'{"a":{"array":{"dtype":"float64","shape":[true],"kind":"ndarray","at":0,"size":8}}}',
        b'{"a":{"array":{"dtype":"float64","shape":[0],"kind":"scalar","at":0,"size":0}}}',
        b'{"a":{"generator":["numpy",1.5]}}',
        b'{"a":{"device":["cpu"]}}',
    ],
    ids=range(17),
)
def test_a_hostile_header_is_refused(header: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack(header, bytes(8))


def test_arrays_that_share_their_bytes_are_refused_so_that_a_short_frame_makes_nothing_large() -> None:
    one = '{"array":{"dtype":"uint8","shape":[8],"kind":"ndarray","at":0,"size":8}}'

    assert wire.unpack(f'{{"a":{one}}}'.encode(), bytes(8))["a"].data.nbytes == 8
    with pytest.raises(wire.WireError, match="another array's"):
        wire.unpack(f'{{"a":{one},"b":{{"list":[{one}]}}}}'.encode(), bytes(8))


def test_a_wire_error_is_no_value_error() -> None:
    assert not issubclass(wire.WireError, ValueError)


def test_nothing_is_packed_that_has_no_place_on_the_wire() -> None:
    for value in (object(), {1, 2}, b"bytes", np.float64(1), np.zeros(2), lambda: 1, 1j):
        with pytest.raises(wire.WireError):
            wire.pack({"value": value})


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_cleaned_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    cleaned = clean_text(text)

    assert all(
        character in "\n\t" or (ord(character) >= 32 and not 0x7F <= ord(character) < 0xA0 and not 0xD800 <= ord(character) < 0xE000) for character in cleaned
    )
    cleaned.encode("utf-8")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=3000))
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1 and len(one_line(text)) <= 1000
