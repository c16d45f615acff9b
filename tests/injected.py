"""Failures injected into real code at any of its own function calls: what is left behind must be what was there."""

import copy
import inspect
import sys
from pathlib import Path

import joblib

import cfmgml

OURS = str(Path(cfmgml.__file__).parent)


class Injected(BaseException):
    """No ``except Exception`` stops it, just as it stops no interrupt from the keyboard."""


def call_until(work, last):
    """Do the work, and raise at the call of a function of ours after ``last`` of them; returns how many there were."""
    made = 0

    def count(frame, event, _):
        nonlocal made
        if frame.f_code.co_flags & inspect.CO_GENERATOR:  # called to be closed, it swallows what is raised
            return
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            made += 1
            if made > last:
                raise Injected

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


def state_of(model):
    """A digest of all attributes, what they hold included."""
    return joblib.hash(dict(vars(model)))


def assert_all_or_nothing(model, change):
    """``change(model)`` fails at its first calls, in the middle and at its last ones: the model is as it was."""
    model = copy.deepcopy(model)  # drops what is only kept to save work
    for _ in range(2):  # the first call may compile, and keep with the data what the second need not compute
        done = copy.deepcopy(model)
        n_calls = call_until(lambda done=done: change(done), sys.maxsize)
    for last in sorted({0, n_calls // 4, n_calls // 2, 3 * n_calls // 4, n_calls - 2, n_calls - 1}):
        assert_nothing_changed(model, change, last)


def assert_nothing_changed(model, change, last):
    """``change`` of a copy fails after ``last`` calls, or after all but one where it makes fewer of them this time."""
    tried = copy.deepcopy(model)
    before = state_of(tried)
    try:
        made = call_until(lambda: change(tried), last)
    except Injected:
        assert state_of(tried) == before, f"a failure after {last} calls left something behind"
    else:  # how many there are depends on the clock too, and on what others have computed
        assert made <= last, "the failure was swallowed"
        assert_nothing_changed(model, change, made - 1)
