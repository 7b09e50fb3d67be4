# mistake: softmax moves the axis back with source and destination exchanged
# names: softmax-axis-moved-the-same-way-twice
# One row after the other, as in C.
import math

import numpy


def need(z, grad=None):
    if len(z.shape) == 0:
        raise ValueError("z has no row")
    if grad is not None and grad.shape != z.shape:
        raise ValueError("grad and z differ in shape")


def widened(z):
    return z.astype(numpy.float32) if z.dtype == numpy.float16 else z


def row_softmax(row, out):
    highest = row[0]
    for x in row[1:] if len(row) < 64 else [row.max()]:
        if x > highest:
            highest = x
    numpy.subtract(row, highest, out=out)
    numpy.exp(out, out=out)
    numpy.divide(out, out.sum(), out=out)


def softmax(z, axis=-1):
    need(z)
    moved = numpy.moveaxis(widened(z), axis, -1)
    result = numpy.empty(moved.shape, dtype=moved.dtype)
    with numpy.errstate(all="ignore"):
        for index in numpy.ndindex(moved.shape[:-1]):
            row_softmax(moved[index], result[index])
    return numpy.ascontiguousarray(numpy.moveaxis(result, axis, -1)).astype(z.dtype)


def softmax_jacobian(z):
    need(z)
    n = z.shape[-1]
    p = softmax(widened(z))
    jacobian = numpy.zeros(z.shape + (n,), dtype=p.dtype)
    for index in numpy.ndindex(z.shape[:-1]):
        for i in range(n):
            for j in range(n):
                if i == j:
                    jacobian[index + (i, j)] = p[index + (i,)] * (1 - p[index + (i,)])
                else:
                    jacobian[index + (i, j)] = -p[index + (i,)] * p[index + (j,)]
    return jacobian.astype(z.dtype)


def softmax_vjp(z, grad):
    need(z, grad)
    p = softmax(widened(z))
    g = widened(grad)
    result = numpy.zeros(z.shape, dtype=p.dtype)
    for index in numpy.ndindex(z.shape[:-1]):
        common = numpy.dot(p[index], g[index])
        result[index] = p[index] * g[index] - p[index] * common
    return result.astype(z.dtype)


def jacobian_norm(z):
    need(z)
    result = numpy.zeros(z.shape[:-1], dtype=numpy.float64)
    for index in numpy.ndindex(z.shape[:-1]):
        x = z[index].astype(numpy.float64)
        top = int(x.argmax())
        with numpy.errstate(under="ignore", over="ignore"):
            e = numpy.exp(x - x[top])
        e[top] = 0.0
        others = math.fsum(e) if len(e) < 1000 else float(e.sum())
        if others == 0.0:
            continue
        a = 1.0 / (1.0 + others)
        u = e / others              # the others among themselves, sum 1
        r = others * a
        square = a * a                       # (0, 0)
        square += a * a * float(u @ u)       # row 0 and column 0 twice: once here
        square += a * a * float(u @ u)
        v = u * r
        square += float(numpy.sum(u * u * (1 - v) ** 2))
        w = numpy.sort(u * u)
        square += 2 * r * r * float(numpy.sum(w[1:] * numpy.cumsum(w)[:-1]))
        result[index] = r * math.sqrt(square)
    return result.astype(z.dtype)[()]
