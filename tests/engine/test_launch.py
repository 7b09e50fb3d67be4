"""A launch that is told in plain values and made anew where its file was never loaded. The interpreter runs in another process."""

import pytest

APART = """
import fence, launch, relaunch, wire

def apart(kernels, *flats):
    made = {}
    def relay(told):
        frame = b"".join(bytes(piece) for piece in wire.pack({"launch": told}))
        header, payload = wire.lengths(frame[: wire.PREFIX.size])
        told = wire.unpack(frame[wire.PREFIX.size :][:header], bytearray(frame[wire.PREFIX.size + header :]))["launch"]
        kernels.relay = None
        rebuilt = relaunch.Rebuilt(told, flats, fence.MARGIN, made)
        failed = rebuilt.run()
        kernels.relay = relay
        seen.append((told, rebuilt))
        return {"raised": failed} if failed else {"memory": rebuilt.written(), "spilled": rebuilt.spilled()}
    kernels.relay = relay

seen = []
"""


def test_what_a_kernel_wrote_comes_back_into_the_memory_that_it_was_handed(run):
    told = run(APART + """
out = torch.zeros(3, 5)[1:2]
apart(kernels, x)
with kernels.call(False, [Given(x)]):
    copy[lambda meta: (triton.cdiv(5, meta["BLOCK"]),)](x, out, n=5, BLOCK=4, MASKED=True)
print(out.tolist(), seen[0][0]["grid"], ["octets" in one for one in seen[0][0]["storages"]])
""")

    assert told.strip() == "[[0.0, 1.0, 2.0, 3.0, 4.0]] [2] [False, True]"


def test_the_values_that_were_put_into_an_argument_by_its_submission_do_not_travel(run):
    told = run(APART + """
out, own = torch.zeros(5), torch.full((5,), 9.0)
apart(kernels, own)
with kernels.call(False, [Given(x)]):
    copy[(2,)](x, out, 5, 4, True)
print(out.tolist())
""")

    assert told.strip() == "[9.0, 9.0, 9.0, 9.0, 9.0]"


REACHING = """
import enum, math
from triton.language import load
Sizes = __import__("collections").namedtuple("Sizes", "n block")
class Mode(enum.IntEnum):
    PLAIN = 1
    TWICE = 2
TWO, KIND, SCALES = tl.constexpr(2.0), tl.float32, (math.inf, 3.0)

@triton.jit
def twice(a, by: tl.constexpr = TWO):
    return a * by

@triton.constexpr_function
def half(n):
    return n // 2

@triton.jit
def reach(x, out, sizes, BLOCK: "tl.constexpr", mode: tl.constexpr, shift=1.0):
    i = tl.arange(0, half(BLOCK * 2))
    value = load(x + i, mask=i < sizes.n,
                 other=0.0).to(KIND)
    if mode == 2:
        value = twice(value)
    tl.store(out + i, value * SCALES[1] + shift + math.pi * 0, mask=i < sizes.n)
"""


def test_all_that_a_kernel_may_reach_travels(run):
    text = APART + f"""
text = {REACHING!r}
import linecache
linecache.cache["/reach.py"] = (len(text), None, text.splitlines(keepends=True), "/reach.py")
exec(compile(text, "/reach.py", "exec"), space := {{"__name__": "reach", "tl": tl, "triton": triton}})
kernels.watch("/reach.py")
apart(kernels, x)
out = torch.zeros(5)
with kernels.call(False, [Given(x)]):
    space["reach"][(1,)](x, out, space["Sizes"](5, 8), 8, space["Mode"].TWICE)
print(out.tolist())
"""

    assert run(text).strip() == "[1.0, 7.0, 13.0, 19.0, 25.0]"


def test_an_error_of_a_kernel_tells_its_line_in_the_file(run):
    told = run(APART + """
apart(kernels, x)
with kernels.call(False, [Given(x)]):
    try:
        copy[(2,)](x, torch.zeros(5), None, 4, True)
    except Exception as error:
        first = copy.fn.__code__.co_firstlineno
        print(type(error).__name__, error.line_of_kernel - first)
""")

    assert told.strip() == "TypeError 4"  # the decorator, the head, two lines, and the one that loads


def test_writing_past_a_memory_is_seen_where_it_runs(run):
    told = run(APART + """
apart(kernels, x)
with kernels.call(False, [Given(x)]):
    copy[(2,)](x, torch.zeros(5), 5, 4, False)
print(seen[0][1].spilled())
""")

    assert told.strip() == "[1]"


@pytest.mark.parametrize("value", ["lambda: 1", "object()", "[[[[[[[1]]]]]]]", "tl.tensor.__add__"])
def test_what_no_compiler_takes_is_not_told(run, value):
    told = run(APART + f"""
try:
    launch.Description(copy, (1,), [x], {{"n": {value}}}, {{}}, fence.inside)
except launch.purity.NotTriton as error:
    print("refused:", error)
""")

    assert told.startswith("refused: ")


def test_a_body_that_breaks_out_of_its_function_is_read_as_the_function_alone(run):
    told = run(APART + """
lines = ["@triton.jit", "def f(", "    x", "): y = x; z = y", "", ""]
print(relaunch.header_and_body({"lines": lines, "first": 3, "constexpr": []}, {}))
""")

    assert told.strip() == "('def f(x):\\n    y = x\\n    z = y\\n', 'f')"
