"""`moontide.signals`: a signal is noticed, wherever the main thread is."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from moontide.signals import until

SIGNALS = 2000


def test_a_signal_ends_the_wait() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    with until(signal.SIGUSR1, signal.SIGUSR2) as stop:
        assert not stop.wait(0)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert stop.wait(20)
        assert stop.wait(0)
    assert signal.getsignal(signal.SIGUSR1) == before


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_signals_in_the_middle_of_waits_do_no_harm() -> None:
    """With threading.Event a handler that meets its own thread inside of a wait stands still for ever."""
    main, done = threading.get_ident(), threading.Event()

    def send() -> None:
        for _ in range(SIGNALS):
            signal.pthread_kill(main, signal.SIGUSR1)
            time.sleep(0.0003)
        done.set()

    with until(signal.SIGUSR1) as stop:
        thread = threading.Thread(target=send)
        thread.start()
        while not done.is_set():
            for _ in range(100):
                stop.wait(0)
        thread.join()
        assert stop.wait(0)
