# attack: An import hook that rewrites whatever is imported next.
# exercise: 02, reason: wrong-result
import numpy as np
import sys


class Hook:
    def find_spec(self, name, path=None, target=None):
        if "check" in name or "oracle" in name or "attngrade" in name:
            sys.modules[name] = sys
        return None


sys.meta_path.insert(0, Hook())
sys.path_hooks.insert(0, lambda path: Hook())
sys.path_importer_cache.clear()


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
