"""Counts and times of requests, in the text format of Prometheus. Nothing in them tells of documents or questions."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Upper ends of the buckets, in seconds."""
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Histogram:
    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        self.buckets[bisect.bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds


class Metrics:
    """Of one server, since it was started."""

    def __init__(self) -> None:
        self.under_way = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[tuple[str, str], _Histogram] = {}
        self._answers: Counter[str] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests[method, route, status] += 1
        self._seconds.setdefault((method, route), _Histogram()).add(seconds)

    def answer(self, outcome: str) -> None:
        """Count a question by what became of it: answered, abstained, failed, left."""
        self._answers[outcome] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Everything, with more values as they are now."""
        return "\n".join([*self._lines(), *_gauges({"http_requests_under_way": self.under_way, **gauges}), ""])

    def _lines(self) -> Iterator[str]:
        yield from _head("http_requests_total", "counter", "Requests that have ended.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'ragstone_http_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        name = "http_request_seconds"
        yield from _head(name, "histogram", "Seconds from a request to the end of its response.")
        for (method, route), it in sorted(self._seconds.items()):
            labels, below = f'method="{method}",route="{route}"', 0
            for bound, count in zip((*BOUNDS, "+Inf"), it.buckets, strict=True):
                below += count
                yield f'ragstone_{name}_bucket{{{labels},le="{bound}"}} {below}'
            yield f"ragstone_{name}_sum{{{labels}}} {it.sum:.6f}"
            yield f"ragstone_{name}_count{{{labels}}} {below}"
        yield from _head("questions_total", "counter", "Questions, by what became of them.")
        for outcome, count in sorted(self._answers.items()):
            yield f'ragstone_questions_total{{outcome="{outcome}"}} {count}'


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP ragstone_{name} {what}"
    yield f"# TYPE ragstone_{name} {kind}"


def _gauges(values: Mapping[str, float]) -> Iterator[str]:
    for name, value in values.items():
        yield from _head(name, "gauge", name.replace("_", " ").capitalize() + ".")
        yield f"ragstone_{name} {value:g}"
