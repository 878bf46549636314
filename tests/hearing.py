"""Lets tests hear every signal, and with them whatever they start."""

import signal


def _hear_and_go_on(_number: int, _frame: object) -> None:
    """Do nothing at a signal, which is not the same as ignoring it: what is ignored stays so in a child."""


def restore_signals() -> None:
    """Let every program that a test starts hear every signal, however the tests themselves were started.

    Under `nohup … &` SIGHUP, SIGINT and SIGQUIT are ignored, in a script's background the last two. A child inherits
    that, and a server that is deaf to Ctrl+C passes no test of Ctrl+C. The tests go on at what they had to ignore.
    """
    of_python = {signal.SIGPIPE, signal.SIGXFSZ}  # Python ignores them itself, and `subprocess` restores them
    for number in signal.valid_signals() - of_python:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _hear_and_go_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
