"""Divide vectors into themes: spherical k-means around the mean of all (Dhillon and Modha 2001).

The mean is subtracted first, because the vectors of many embedders all point in much the same direction. How many
themes there are is decided by the simplified silhouette (Hruschka et al. 2004): how much closer a vector is to its own
centroid than to the next one. Of the numbers that are nearly as good as the best, the largest is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ragstone.core.records import Vector

SAMPLE = 8_000
"""Vectors from which centroids are computed."""
COUNTS = (3, 4, 5, 6, 8, 10, 12)
"""Numbers of themes that are tried."""
NEARLY_BEST = 0.9
"""Share of the best silhouette that a larger number of themes must have to be preferred: more themes tell more."""
LEAST_MEMBERS = 4
"""Vectors of the sample for each theme, on average, at least."""
ROUNDS = 15
"""Rounds of k-means."""
AT_ONCE = 16_384
"""Vectors that are compared with the centroids in one step."""
GROWTH = 0.25
"""Share of the vectors that may have come or gone before the centroids are computed again."""
LOOSER = 0.7
"""Added vectors that fit the centroids by less than this share of what the first ones did are about something new."""
LEAST_ADDED = 20
"""Added vectors from which their fit is looked at."""


@frozen(eq=False)
class Themes:
    """The theme of each chunk of a selection.

    ``rows`` (n,) ascend; ``theme`` (n,) numbers the theme of each and ``fit`` (n,) is its cosine with the centroid.
    ``mean`` (dimensions,) is that of the vectors, ``centroids`` (themes, dimensions) have length 1. ``built`` and
    ``built_fit`` are the number of rows when the centroids were computed and their mean fit; ``changed`` counts those
    that came or went since, and ``added`` and ``added_fit`` are of those that came.
    """

    rows: NDArray[np.int64]
    theme: NDArray[np.int16]
    fit: NDArray[np.float32]
    mean: Vector
    centroids: Vector
    built: int
    built_fit: float
    changed: int = 0
    added: int = 0
    added_fit: float = 0.0

    @property
    def has_drifted(self) -> bool:
        """Whether so much came or went, or something so different came, that the centroids are to be computed again."""
        is_new = self.added >= LEAST_ADDED and self.added_fit < LOOSER * self.built_fit
        return is_new or self.changed > GROWTH * max(self.built, 1)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of chunks of each theme (themes,)."""
        return np.bincount(self.theme, minlength=len(self.centroids))

    def members(self, theme: int, most: int) -> list[int]:
        """Return the rows of a theme that fit it best, best first."""
        at = np.flatnonzero(self.theme == theme)
        return self.rows[at[np.argsort(-self.fit[at], kind="stable")[:most]]].tolist()


def centroids_of(sample: Vector) -> tuple[Vector, Vector]:
    """Return the mean (dimensions,) of vectors (n, dimensions) and the centroids (themes, dimensions) around it."""
    mean = sample.mean(axis=0, dtype=np.float32)
    points = _around(sample, mean)
    tried = [count for count in COUNTS if count * LEAST_MEMBERS <= len(points)]
    clusterings = [_k_means(points, count) for count in tried]
    if not clusterings:
        return mean, np.zeros((1, len(mean)), dtype=np.float32)
    silhouettes = [_silhouette(points, centroids) for centroids in clusterings]
    good = [at for at, value in enumerate(silhouettes) if value >= NEARLY_BEST * max(silhouettes)]
    return mean, clusterings[good[-1] if good else 0]


def nearest(vectors: Vector, mean: Vector, centroids: Vector) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """Return the theme (n,) of each vector (n, dimensions), and its cosine with the centroid (n,)."""
    theme, fit = np.empty(len(vectors), dtype=np.int16), np.empty(len(vectors), dtype=np.float32)
    for part in _parts(len(vectors)):
        similar = _around(vectors[part], mean) @ centroids.T
        theme[part] = similar.argmax(axis=1)
        fit[part] = similar.max(axis=1)
    return theme, fit


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + AT_ONCE) for start in range(0, count, AT_ONCE))


def _around(vectors: Vector, mean: Vector) -> Vector:
    """Return the vectors from the mean to each, with length 1."""
    moved = vectors - mean
    return moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)


def _k_means(points: Vector, count: int) -> Vector:
    """Return the centroids of k-means from well spread beginnings; the same points give the same ones."""
    random = np.random.default_rng(0)
    centroids = _spread(points, count, random)
    theme = np.full(len(points), -1)
    for _ in range(ROUNDS):
        similar = points @ centroids.T
        new = similar.argmax(axis=1)
        if (new == theme).all():
            break
        theme = new
        sums = (theme == np.arange(count)[:, None]).astype(points.dtype) @ points
        empty = np.flatnonzero(np.bincount(theme, minlength=count) == 0)
        sums[empty] = points[np.argsort(similar.max(axis=1))[: len(empty)]]  # those that fit no centroid
        centroids = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return centroids


def _spread(points: Vector, count: int, random: np.random.Generator) -> Vector:
    """Return points that are far from each other (k-means++, Arthur and Vassilvitskii 2007)."""
    chosen = [int(random.integers(len(points)))]
    distance = 1 - points @ points[chosen[0]]
    for _ in range(count - 1):
        weight = np.clip(distance, 0, None).astype(np.float64) ** 2
        total = weight.sum()
        chosen.append(int(random.choice(len(points), p=weight / total)) if total else chosen[-1])
        distance = np.minimum(distance, 1 - points @ points[chosen[-1]])
    return points[chosen]


def _silhouette(points: Vector, centroids: Vector) -> float:
    """Return how much closer points are to their own centroid than to the next one, on average: -1 to 1."""
    ordered = np.sort(1 - points @ centroids.T, axis=1)
    own, other = ordered[:, 0], ordered[:, 1]
    return float(((other - own) / np.maximum(other, 1e-9)).mean())
