"""A system without what POSIX alone has. What only Windows has can't be put in; every name that is missing there is missing here."""

import multiprocessing.connection
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile

used_by_the_standard_library = (multiprocessing.connection, random, shutil, tempfile)  # imported while it still finds what it needs

for place, names in {
    os: ("fork", "forkpty", "killpg", "setsid", "getuid", "geteuid", "getgid", "setpgid", "getpgid", "memfd_create", "pidfd_open", "sched_getaffinity", "set_blocking",
         "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_PATH", "wait4", "chown", "fchmod", "mkfifo", "openpty", "nice", "getloadavg"),
    select: ("poll", "epoll"),
    signal: ("SIGKILL", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGUSR1", "setitimer", "alarm", "pthread_kill", "pthread_sigmask", "pidfd_send_signal", "valid_signals"),
}.items():
    for name in names:
        if hasattr(place, name):
            delattr(place, name)
for gone in ("fcntl", "termios", "tty", "pty", "resource", "grp", "pwd", "readline", "syslog"):
    sys.modules[gone] = None

sysconfig.get_config_vars()  # while its file is found under this platform's own name
sys.platform = "darwin"  # of the names that click knows, the one that is neither Linux nor asks for Windows' own libraries
begin = subprocess.Popen.__init__


def no_descriptors_are_passed_on(self, *arguments, pass_fds=(), **options):
    """As the real one says on Windows."""
    if pass_fds:
        raise ValueError("pass_fds not supported on Windows.")
    begin(self, *arguments, **options)


subprocess.Popen.__init__ = no_descriptors_are_passed_on
