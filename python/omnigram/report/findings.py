"""The differences between arms in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping

from .read import Arm
from .roles import Roles
from .statistics import FEWEST, Difference
from .words import listing, signed

_VERBS = {"better": "helps on", "worse": "hurts on", "unclear": "shows no difference on",
          "few": f"has too few held-out documents (below {FEWEST}) to tell on"}

Differences = Mapping[str, Mapping[str, Mapping[str, Difference]]]
"""arm -> what it is compared with -> modality."""


def findings(differences: Differences, modalities, roles: Roles) -> list[tuple[str, str]]:
    """(arm, one plain statement): against the reference, and then against each control.

    An arm that helps nowhere is said not to help; one that beats the reference but not a control, that its gain need not come from
    n-grams.
    """
    said = []
    for arm, rivals in differences.items():
        found = _known(rivals.get(roles.reference), modalities)
        if found:
            line = _against_reference(found, roles.reference)
            said.append((arm, line + "".join(_against_control(found, _known(rivals.get(control), modalities), control)
                                             for control in roles.controls if control in rivals)))
    return said


def cautions(differences: Differences, modalities, roles: Roles) -> list[str]:
    """A control that is better than the reference: then part of what tables gain there is not context."""
    said = []
    for control in roles.controls:
        found = _known((differences.get(control) or {}).get(roles.reference), modalities)
        better = [f"{m} ({signed(d.value)})" for m, d in found.items() if d.verdict == "better"]
        if better:
            said.append(f"{control} ignores context and is still better than {roles.reference} on {listing(better)}. So part of what tables "
                        f"gain there is not context: take what an arm gains over {control}, not what it gains over {roles.reference}.")
    return said


def unlearned(arms: Mapping[str, Arm], unigram: Mapping[str, float | None], modalities) -> list[str]:
    """Where no arm is below the unigram control: such models have learned less than the codes' frequencies."""
    above = []
    for m in modalities:
        control, own = unigram.get(m), [b for b in (arm.val_bits(m) for arm in arms.values()) if b is not None]
        if control is not None and own and min(own) >= control:
            above.append(f"{m} (best arm {min(own):.3f}, unigram {control:.3f})")
    return [f"No arm is better than the unigram control on {listing(above)}. The models have not learned there how often each code occurs, so "
            "differences between arms say little about n-grams: train for more steps, on more documents."] if above else []


def _known(found: Mapping[str, Difference] | None, modalities) -> dict[str, Difference]:
    return {m: found[m] for m in modalities if found and found.get(m) is not None and found[m].value == found[m].value}


def _against_reference(found: Mapping[str, Difference], reference: str) -> str:
    """Like "helps on image (-0.040); hurts on text (+0.300), in bits a token against off."."""
    parts = []
    for verdict, verb in _VERBS.items():
        own = {m: d for m, d in found.items() if d.verdict == verdict}
        if own:
            parts.append(f"{verb} {listing(f'{m} ({signed(d.value)})' for m, d in own.items())}")
    open_question = any(d.verdict in ("better", "few") for d in found.values())
    start = "" if open_question else "does not help: it "
    return f"{start}{'; '.join(parts)}, in bits a token against {reference}."


def _against_control(found: Mapping[str, Difference], control: Mapping[str, Difference], name: str) -> str:
    if not control or any(d.verdict == "few" for d in control.values()):
        return ""
    hollow = [m for m, d in found.items() if d.verdict == "better" and m in control and control[m].verdict != "better"]
    better = [f"{m} ({signed(d.value)})" for m, d in control.items() if d.verdict == "better"]
    if hollow:
        return (f" On {listing(hollow)} it is not better than {name}, whose tables ignore context, so that gain need not come from "
                "the n-grams.")
    if better:
        return f" It is better than {name}, whose tables ignore context, on {listing(better)}."
    return f" It is nowhere better than {name}, whose tables ignore context."
