"""What may be learned, as immutable versions.

A policy says what to choose for each kind of question. Version 0 chooses nothing: everything is as the settings say.
Each later version names its parent, and the evidence for it. Numbers stay within their bounds, and no version moves
one further from its parent than a step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ragstone.errors import UsageError

MOST_KINDS = 4
"""Kinds of question with choices of their own; all others share those of `OTHERS`."""
OTHERS = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The least and the greatest a number may be, and the furthest one version may move it."""

    low: float
    high: float
    step: float

    def moved(self, now: float, wanted: float) -> float:
        """What is nearest to ``wanted`` of what may follow ``now``."""
        within = min(max(wanted, now - self.step), now + self.step)
        return min(max(within, self.low), self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What is chosen for one kind of question; None: as the settings say.

    ``web_threshold``: the web is searched where the documents answer with less than this probability. ``relevance``,
    ``factuality`` and ``completeness`` weigh the marks of a judge; only their proportion matters. ``retrieval_share``
    is what the probability before answering counts in the confidence; the marks have the rest. ``slope`` and ``shift``
    calibrate that number. ``vector_weight`` is the vectors' share of the fusion; keywords have the rest. ``rerank``:
    whether the best candidates get a second look.
    """

    web_threshold: float | None = None
    relevance: float | None = None
    factuality: float | None = None
    completeness: float | None = None
    retrieval_share: float | None = None
    slope: float | None = None
    shift: float | None = None
    vector_weight: float | None = None
    top_k: int | None = None
    rerank: bool | None = None

    def over(self, base: Choices) -> Choices:
        """These, and what they leave open as ``base`` has it."""
        own = {name: value for name, value in asdict(self).items() if value is not None}
        return Choices(**{**asdict(base), **own})


NAMES = tuple(one.name for one in fields(Choices))
BOUNDS: Mapping[str, Bound] = {
    "web_threshold": Bound(low=0.3, high=0.9, step=0.1),
    "relevance": Bound(low=0.1, high=0.8, step=0.1),
    "factuality": Bound(low=0.1, high=0.8, step=0.1),
    "completeness": Bound(low=0.1, high=0.8, step=0.1),
    "retrieval_share": Bound(low=0.1, high=0.9, step=0.1),
    "slope": Bound(low=0.2, high=5.0, step=1.0),
    "shift": Bound(low=-3.0, high=3.0, step=1.0),
    "vector_weight": Bound(low=0.0, high=1.0, step=0.2),
    "top_k": Bound(low=1, high=20, step=3),
}
"""Of each number. Whether to rerank is yes or no."""

Figures = Mapping[str, str | float | int]
"""What a decision rested on, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A version: choices by kind of question. ``at`` is in seconds since 1970; ``evidence`` names trial and figures."""

    version: int
    parent: int | None = None
    at: float = 0.0
    by_kind: Mapping[str, Choices] = field(default_factory=dict)
    evidence: Figures = field(default_factory=dict)
    bounds: Mapping[str, Bound] = field(default_factory=lambda: dict(BOUNDS))

    def __post_init__(self) -> None:
        if len([kind for kind in self.by_kind if kind != OTHERS]) > MOST_KINDS:
            raise UsageError(f"a policy has choices of its own for at most {MOST_KINDS} kinds of question")
        for kind, choices in self.by_kind.items():
            for name, bound in self.bounds.items():
                value = getattr(choices, name)
                if value is not None and not bound.low <= value <= bound.high:
                    about = f"policy {self.version}, kind '{kind}'"
                    raise UsageError(f"{about}: {name} must be {bound.low} to {bound.high}, not {value}")

    def choices(self, kind: str = OTHERS) -> Choices:
        """What is chosen for a question of this kind."""
        return self.by_kind.get(kind, self.by_kind.get(OTHERS, Choices()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A choice that two policies make differently; None: as the settings say."""

    kind: str
    name: str
    a: float | bool | None
    b: float | bool | None


def diff(a: Policy, b: Policy) -> tuple[Difference, ...]:
    """What ``b`` chooses otherwise than ``a``, by kind and name."""
    kinds = sorted({*a.by_kind, *b.by_kind, OTHERS})
    pairs = [
        (kind, name, getattr(a.choices(kind), name), getattr(b.choices(kind), name)) for kind in kinds for name in NAMES
    ]
    return tuple(Difference(kind=kind, name=name, a=x, b=y) for kind, name, x, y in pairs if x != y)


def canonical(value: Any) -> str:
    """JSON of which there is one spelling: sorted names, no spaces, no numbers that are none."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def to_json(policy: Policy) -> str:
    """The policy as one canonical line; `from_json` gives back the same."""
    chosen = {
        kind: {name: value for name, value in asdict(choices).items() if value is not None}
        for kind, choices in policy.by_kind.items()
    }
    return canonical(
        {
            "version": policy.version,
            "parent": policy.parent,
            "at": policy.at,
            "by_kind": chosen,
            "evidence": dict(policy.evidence),
            "bounds": {name: asdict(bound) for name, bound in policy.bounds.items()},
        }
    )


def from_json(text: str) -> Policy:
    """The policy that `to_json` wrote.

    Raises:
        UsageError: it is none.
    """
    try:
        told = json.loads(text)
        return Policy(
            version=told["version"],
            parent=told["parent"],
            at=told["at"],
            by_kind={kind: Choices(**choices) for kind, choices in told["by_kind"].items()},
            evidence=told["evidence"],
            bounds={name: Bound(**bound) for name, bound in told["bounds"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"this is no policy: {error}") from error
