"""A system without what Linux alone has: put on PYTHONPATH, it takes these things away before anything else is imported."""

import os
import select
import signal
import socket
import sys
import sysconfig
from pathlib import Path

for place, names in {
    os: ("memfd_create", "pidfd_open", "sched_getaffinity", "sched_setaffinity", "O_PATH", "unshare", "setns", "splice", "eventfd", "getrandom", "posix_fadvise"),
    signal: ("pidfd_send_signal",),
    select: ("epoll",),
    socket: ("SOCK_SEQPACKET", "SO_PEERCRED", "AF_NETLINK"),
}.items():
    for name in names:
        if hasattr(place, name):
            delattr(place, name)

sysconfig.get_config_vars()  # while its file is found under this platform's own name
sys.platform = "darwin"


def _absent(event, arguments):
    """/proc and /sys aren't there."""
    if event in ("open", "os.listdir", "os.scandir") and arguments and isinstance(arguments[0], (str, os.PathLike)):
        path = Path(os.fspath(arguments[0]))
        if path.is_absolute() and path.parts[1:2] in (("proc",), ("sys",)):
            raise FileNotFoundError(2, "No such file or directory", str(path))


sys.addaudithook(_absent)
