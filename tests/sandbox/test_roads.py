"""Refusals at run time: what no reader of a source sees is refused in the worker, on roads past the dispatcher too, and what isn't off limits works."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from attngrade.catalog import builtin
from attngrade.grading import Limits, plan_for
from attngrade.grading.opening import listed
from attngrade.sandbox.errors import Raised
from attngrade.sandbox.hollow import Hollow, Refused
from attngrade.sandbox.host import Worker, raise_if_raised
from attngrade.sandbox.nursery import Crew
from attngrade.sandbox.proxy import Submission

X = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
Ask = Callable[[str], np.ndarray]
NORMS = '''
import ctypes, os, numpy as np, torch
import torch._refs.nn.functional, torch.nn.modules._functions

IR = "graph(%x : Tensor, %s : int[], %w : Tensor?, %e : float):\\n  %c : bool = prim::Constant[value=0]()\\n  %r : Tensor = aten::layer_norm(%x, %s, %w, %w, %e, %c)\\n  return (%r)"

def the_static_runtime(x): return torch._C._jit_to_static_module(torch._C.parse_ir(IR))(x, [4], None, 1e-5)
def a_graph(x): return torch._C._create_function_from_graph("f", torch._C.parse_ir(IR))(x, [4], None, 1e-5)
def an_operator_of_torchscript(x):
    found = next(s.name for s in torch._C._jit_get_all_schemas() if s.name.startswith("prim::MKLDNN") and s.name.endswith("Norm"))
    return torch._C._jit_get_operation(found)[0](x.to_mkldnn(), [4], torch.ones(4).to_mkldnn(), torch.ones(4).to_mkldnn(), 1e-5, True).to_dense()
def the_same_by_torch_ops(x):
    return getattr(torch.ops.prim, "MKLDNN" + "LayerNorm")(x.to_mkldnn(), [4], torch.ones(4).to_mkldnn(), torch.ones(4).to_mkldnn(), 1e-5, True).to_dense()
def across_the_map(x): return torch.nn.CrossMapLRN2d(9, 9 / 4, 0.5, 1e-6)(x.reshape(3, 4, 1, 1))
def the_function_behind_it(x):
    (found,) = (value for name, value in vars(torch.nn.modules._functions).items() if name.startswith("Cross"))
    return found.apply(x.reshape(3, 4, 1, 1), 9, 9 / 4, 0.5, 1e-6)
def of_a_weight(x): return torch._weight_norm(x, x.new_ones(3, 1), 0)
def of_a_parameter(x): return torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 3)).weight
def inside_a_reference(x):
    (found,) = (value for name, value in vars(torch._refs).items() if name.startswith("native_layer") and name.endswith("norm"))
    return found.__wrapped__(x, (4,), None, None, 1e-5)[0]
def the_finder_of_c(x):
    find = ctypes.CDLL(None).dlsym
    return x
def the_finder_of_the_library(x):
    return ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))["_ZN2at14DynamicLibrary3symEPKc"] and x
def beside_a_folder(x):
    return os.open("lib/libtorch_cpu.so", os.O_RDONLY, dir_fd=os.open(os.path.dirname(torch.__file__), os.O_RDONLY)) and x
def allowed_and_frozen(x):
    class Half(torch.nn.Module):
        def forward(self, x): return x / 2
    return torch.jit.optimize_for_inference(torch.jit.trace(Half().eval(), x))(x)
def a_symbol(x):
    return ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))["_ZN2at6native10layer_normE"] and x
def the_table_of_symbols(x): return np.fromfile(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"), np.uint8, 64)
def the_same_by_a_link(x):
    return os.open("/proc/self/root" + os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"), os.O_RDONLY) and x
'''
SHARES = '''
import ctypes, os, torch
import importlib, torch._decomp, torch._refs
import triton.language as tl

LIBRARIES = {}
for name in ("scipy.special", "sklearn.utils.extmath", "sklearn.neural_network._base"):
    try:
        LIBRARIES[name] = importlib.import_module(name)
    except ImportError:
        pass

def one(home, start, end): return next(value for name, value in vars(home).items() if name.startswith(start) and name.endswith(end) and "data" not in name)

def of_the_references(x): return one(torch._refs, "sof", "max")(x, -1)
def inside_a_reference(x): return one(torch._refs, "sof", "max").__wrapped__(x, -1)
def of_the_decompositions(x): return one(torch._decomp.decompositions, "_sof", "max")(x, -1, False)
def of_their_table(x):
    return next(value for name, value in torch._decomp.decomposition_table.items() if str(name) == "aten._softmax.default")(x, -1, False)
def of_scipy(x): return torch.from_numpy(one(LIBRARIES["scipy.special"], "sof", "max")(x.numpy(), -1))
def of_scikit_learn(x): return torch.from_numpy(one(LIBRARIES["sklearn.utils.extmath"], "sof", "max")(x.numpy()))
def of_its_network(x): return one(LIBRARIES["sklearn.neural_network._base"], "inplace_sof", "max")(x.numpy().copy())
def of_triton(x): return one(tl, "sof", "max")(x)
def of_tensor_expressions(x): return torch._C._te.lower("aten::" + "softmax", [x], [3, 4], None)
def a_symbol(x):
    return ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))["_ZN2at3cpu8_softmaxERKNS_6TensorElb"] and x

def allowed(x): return torch.softmax(x, -1)
def allowed_logarithm(x): return torch.log_softmax(x, -1).exp()
def allowed_and_safe(x): return torch._safe_softmax(x, -1)
def allowed_in_half(x): return torch.softmax(x.half(), -1, dtype=torch.float32)
def the_gradient_of_logsumexp(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(torch.logsumexp(x, -1).sum(), x)[0]
'''


OF_LIBRARIES = {"of_scipy": "scipy", "of_scikit_learn": "sklearn", "of_its_network": "sklearn"}


def roads(source: str) -> list[str]:
    return [line.split("(")[0].removeprefix("def ") for line in source.splitlines() if line.startswith("def ") and not line.startswith(("def one", "def allowed", "def the_gradient"))]


@pytest.fixture(scope="module")
def loaded(crew: Crew) -> Callable[[str, str], Ask]:
    known: dict[str, Submission] = {}

    def load(exercise: str, source: str) -> Ask:
        if exercise not in known:
            worker: Worker = crew.worker(plan_for(builtin().find(exercise), Limits(), "cpu"))
            told = listed(builtin().find(exercise).off_limits)
            told["within"] = dict.fromkeys(told["within"], roads(source))
            raise_if_raised(worker.ask({"op": "load", "module": "given", "source": source, **told}), "")
            known[exercise] = Submission(worker)
        return lambda name: np.asarray(getattr(known[exercise], name)(X))

    return load


@pytest.mark.parametrize("road", roads(NORMS))
def test_a_norm_is_refused_on_the_road_of(road: str, loaded: Callable[[str, str], Ask]) -> None:
    with pytest.raises(Raised, match="off limits"):
        loaded("exercise05", NORMS)(road)


@pytest.mark.parametrize("road", roads(SHARES))
def test_a_softmax_is_refused_on_the_road_of(road: str, loaded: Callable[[str, str], Ask]) -> None:
    if road in OF_LIBRARIES:
        pytest.importorskip(OF_LIBRARIES[road])
    with pytest.raises(Raised, match="off limits"):
        loaded("exercise06", SHARES)(road)


@pytest.mark.parametrize("name", ["allowed", "allowed_logarithm", "allowed_and_safe", "allowed_in_half", "the_gradient_of_logsumexp"])
def test_where_a_softmax_is_not_off_limits_it_works(name: str, loaded: Callable[[str, str], Ask]) -> None:
    shares = np.exp(X) / np.exp(X).sum(-1, keepdims=True)

    assert np.abs(loaded("exercise06", SHARES)(name) - shares).max() < (1e-3 if "half" in name else 1e-6)


def test_what_is_made_ready_for_inference_still_runs(loaded: Callable[[str, str], Ask]) -> None:
    assert np.array_equal(loaded("exercise05", NORMS)("allowed_and_frozen"), X / 2)


def test_what_a_closed_module_holds_can_be_looked_into_by_who_only_loads() -> None:
    inside = Hollow("torch.nn.attention", "torch.nn.attention").sdpa_kernel.__wrapped__  # as torch's compiler does, which vmap's kin and jagged tensors load

    with pytest.raises(Refused, match="off limits"):
        inside()
