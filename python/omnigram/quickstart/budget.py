"""One number of steps for all arms, from how long the slowest one takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Choice:
    """The steps, and the sentence that says why."""

    steps: int
    reason: str
    step_seconds: float
    fixed_seconds: float


def choose(step_seconds: np.ndarray, wall_seconds: float, *, left_seconds: float, arms: int, one_pass: int,
           least: int) -> Choice:
    """step_seconds: of the timing run, in order; wall_seconds: of that run from start to end, a final measure included.

    Every arm gets left_seconds / arms. Of that, the run's fixed share (start, measures, files) is what the timing run
    took beyond its steps. Never more than one_pass over the data: tables memorise what they see twice.
    """
    if len(step_seconds) == 0:
        raise ValueError("the timing run made no steps")
    late = step_seconds[len(step_seconds) // 3:]  # the first steps warm caches
    step = float(np.mean(late))
    fixed = max(wall_seconds - float(np.sum(step_seconds)), 0.0)
    share = left_seconds / arms
    affordable = int((share - fixed) / step)
    steps = max(min(affordable, one_pass), min(least, one_pass))
    limit = ("which is one pass over the training packs, the most that is useful" if steps == one_pass else
             f"which fills {share:.0f} s an arm" if steps == affordable else
             "the least that shows anything, though the budget would allow fewer")
    reason = (f"{steps} steps for every arm, {limit}: the slowest arm took {step:.3f} s a step and {fixed:.1f} s besides "
              f"in a timing run of {len(step_seconds)} steps.")
    return Choice(steps, reason, step, fixed)
