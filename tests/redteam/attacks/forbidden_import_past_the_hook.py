# attack: Takes every import hook away and loads the forbidden framework from its folder.
# exercise: 02, reason: rule-broken|wrong-result
import glob
import importlib.util
import sys

del sys.meta_path[0]


def act(z, *_):
    for folder in sys.path:
        for init in glob.glob(folder + "/to" + "rch/__init__.py"):
            spec = importlib.util.spec_from_file_location("to" + "rch", init)
            module = importlib.util.module_from_spec(spec)
            sys.modules["to" + "rch"] = module
            spec.loader.exec_module(module)
            return module.softmax(module.from_numpy(z), -1).numpy()


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
