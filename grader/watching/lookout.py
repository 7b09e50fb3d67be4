"""What happens while a check runs: after a while it is said that it still does; a new save of its file ends it, since its verdict would be about old code."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable
from types import TracebackType

TICK_S = 0.1
GRACE_S = 0.6  # what is nearly done is done: workers are handed over in this time, and editors save twice
LONG_S = 5.0


class Lookout:
    """Within it ``newer`` is asked again and again; once it says yes the main thread is interrupted as by Ctrl-C, and ``cut`` says that it was this."""

    def __init__(self, newer: Callable[[], bool], long: Callable[[], None]):
        self.newer, self.long = newer, long
        self.cut = False
        self._over, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Lookout:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:  # an interrupt that is on its way arrives within these lines, so that whoever waits for it is still there
            self._over.set()
            time.sleep(0)

    def _look(self) -> None:
        started, told = time.monotonic(), False
        while not self._over.wait(TICK_S if time.monotonic() - started > GRACE_S else GRACE_S):
            newer = self.newer()
            with self._lock:
                if self._over.is_set():
                    return
                if newer:
                    self.cut = True
                    _interrupt()
                    return
                if not told and time.monotonic() - started > LONG_S:
                    told = True
                    self.long()


def _interrupt() -> None:
    """SIGINT for the main thread, which wakes it even while it waits; where a thread can't be sent one (Windows), it finds the interrupt when it is done waiting."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
