# attack: Changes the priority and the processors of others, and writes to what the kernel offers.
# exercise: 02, reason: wrong-result
import numpy as np
import os

for pid in (1, os.getppid()):
    for act_ in (lambda: os.setpriority(os.PRIO_PROCESS, pid, 19), lambda: os.sched_setaffinity(pid, {0}), lambda: os.sched_setscheduler(pid, 5, os.sched_param(0))):
        try:
            act_()
            print("SEEN changed", pid)
        except OSError:
            pass
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/proc/self/clear_refs", "/sys/fs/cgroup/cgroup.procs", "/proc/self/uid_map"):
    try:
        with open(path, "w") as file:
            file.write("5")
        print("SEEN wrote", path)
    except OSError:
        pass


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
