"""An interrupt waits for the end of a begun commit, and is delivered then; the second one does not wait."""

import signal
import threading

import pytest

from fabric_dagster.supervisor.shield import SIGNALS, uninterrupted


@pytest.fixture(autouse=True)
def handlers():
    """Every handler as it was."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupted(done, *numbers):
    """Work under the shield while interrupts come; ``done`` says how far it came."""
    with uninterrupted():
        for number, name in zip(numbers, ("first", "second"), strict=False):
            signal.raise_signal(number)
            done.append(name)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_waits(number):
    """All of the block happens, then the interrupt."""
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(done, number)
    assert ["first"] == done
    assert signal.default_int_handler == signal.getsignal(signal.SIGINT)


def test_second_does_not_wait():
    """Who insists is obeyed; what was in the middle is unknown then, and looked at."""
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(done, signal.SIGINT, signal.SIGINT)
    assert ["first"] == done
    assert signal.default_int_handler == signal.getsignal(signal.SIGINT)


def test_failure_inside():
    """A failure passes, with the handlers as they were."""
    with pytest.raises(ValueError, match="x"), uninterrupted():
        raise ValueError("x")
    assert signal.default_int_handler == signal.getsignal(signal.SIGINT)


def test_ignored_stays_ignored():
    """What somebody ignores interrupts nothing, before and after."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with uninterrupted():
        signal.raise_signal(signal.SIGTERM)
    assert signal.SIG_IGN == signal.getsignal(signal.SIGTERM)


def test_other_threads():
    """A thread that gets no signals changes nothing about them."""
    seen = []

    def work():
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [signal.default_int_handler] == seen
