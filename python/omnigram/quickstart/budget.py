"""One number of steps for all arms, from how long the slowest one takes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """The steps, and the sentence that says why."""

    steps: int
    reason: str
    step_seconds: float
    fixed_seconds: float


def choose(step_seconds: Sequence[float], fixed_seconds: float, *, left_seconds: float, arms: int, one_pass: int, least: int,
           slack: float = 1.0) -> Choice:
    """step_seconds: measured steps of the slowest arm; fixed_seconds: what a run of it costs besides its steps (start, measures,
    end); slack: how many times slower a long run's steps may turn out.

    Every arm gets left_seconds / arms, and all make the same number of steps, so no arm can be cut short later. Never more
    than one_pass over the data: tables memorise what they see twice.
    """
    if len(step_seconds) == 0:
        raise ValueError("no steps were measured")
    step = statistics.fmean(step_seconds)
    share = left_seconds / arms
    affordable = int((share - fixed_seconds) / (step * slack))
    steps = max(min(affordable, one_pass), min(least, one_pass))
    limit = ("which is one pass over the training packs, the most that is useful" if steps == one_pass else
             f"which fills {share:.0f} s an arm" if steps == affordable else
             "the least that shows anything, though the budget would allow fewer")
    margin = f" ({slack:.2f} times that is reckoned with)" if slack != 1 else ""
    reason = (f"{steps} steps for every arm, {limit}: the slowest arm took {step:.3f} s a step{margin} over {len(step_seconds)} "
              f"measured steps, and {fixed_seconds:.1f} s for a run's start, measures and end.")
    return Choice(steps, reason, step * slack, fixed_seconds)
