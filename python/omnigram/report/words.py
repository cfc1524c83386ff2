"""Numbers and lists as the page says them: one minus sign, one dash for what is not known."""

from __future__ import annotations

from collections.abc import Iterable

MINUS = "\u2212"
NONE = "–"
_GAP = "\u00a0"  # a line never breaks between a number and its unit


def _known(value) -> bool:
    return value is not None and value == value


def minus(text: str) -> str:
    """Every hyphen that is a sign of a formatted number, as a minus."""
    return text.replace("-", MINUS)


def bits(value: float | None) -> str:
    return minus(f"{value:.3f}") if _known(value) else NONE


def signed(value: float | None) -> str:
    return minus(f"{value:+.3f}") if _known(value) else NONE


def percent(value: float | None) -> str:
    return minus(f"{100 * value:.1f}{_GAP}%") if _known(value) else NONE


def signed_percent(value: float | None) -> str:
    return minus(f"{100 * value:+.1f}{_GAP}%") if _known(value) else NONE


def count(value: float | None) -> str:
    return minus(f"{value:,.0f}") if _known(value) else NONE


def size(value: int | None) -> str:
    """Bytes in MiB or GiB."""
    if not _known(value):
        return NONE
    return f"{value / 2**30:.2f}{_GAP}GiB" if value >= 2**30 else f"{value / 2**20:.1f}{_GAP}MiB"


def seconds(value: float | None) -> str:
    if not _known(value):
        return NONE
    return f"{value:.1f}{_GAP}s" if value < 10 else f"{value:.0f}{_GAP}s"


def listing(parts: Iterable[str]) -> str:
    """a, b and c"""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
