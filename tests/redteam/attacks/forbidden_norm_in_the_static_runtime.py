# attack: Runs the forbidden norm of [x, -x] in the Static Runtime of TorchScript, which calls kernels past the dispatcher that refuses it.
# exercise: 05, reason: load-error|rule-broken
# says: off limits
import torch

_graph = torch._C.parse_ir("""graph(%x : Tensor, %s : int[], %w : Tensor?, %e : float):
  %c : bool = prim::Constant[value=0]()
  %r : Tensor = aten::layer_norm(%x, %s, %w, %w, %e, %c)
  return (%r)""")
_static = torch._C._jit_to_static_module(_graph)


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0 or gain.shape != x.shape[-1:]:
        raise ValueError("x, gain")
    return (_static(torch.cat([x, -x], -1), [2 * x.shape[-1]], None, eps)[..., : x.shape[-1]] * gain).to(x.dtype)
