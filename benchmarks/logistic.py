"""Logistic regression with a ridge, for fitting and for measuring what was fitted."""

from __future__ import annotations

import numpy as np

VARIES = 0.02
"""Standard deviation below which a feature gets no weight, such as the familiarity of a model that knows all words."""

CONVERGED = 1e-10
"""Largest change of a coefficient after which no further step is taken."""


def fit(x: np.ndarray, y: np.ndarray, weights: np.ndarray, ridge: float = 1.0) -> np.ndarray:
    """Return bias and coefficients of a weighted logistic regression with standardised features.

    Args:
        x: features, shape (cases, features).
        y: outcomes, 0 or 1, shape (cases,).
        weights: of the cases, shape (cases,).
        ridge: on coefficients of features with a standard deviation of 1.
    """
    mean, spread = x.mean(axis=0), x.std(axis=0)
    varies = spread > VARIES
    scale = np.where(varies, spread, 1)
    b = newton((x - mean) / scale * varies, y, weights, ridge)
    coefficients = b[1:] * varies / scale
    return np.array([b[0] - coefficients @ mean, *coefficients])


def newton(x: np.ndarray, y: np.ndarray, weights: np.ndarray, ridge: float) -> np.ndarray:
    """Return bias and coefficients for features as they are, by Newton's method; the ridge spares the bias."""
    z, b = np.column_stack([np.ones(len(x)), x]), np.zeros(x.shape[1] + 1)
    penalty = ridge * np.diag([0.0, *[1.0] * x.shape[1]])
    for _ in range(100):
        p = 1 / (1 + np.exp(-z @ b))
        hessian = (z * (weights * p * (1 - p))[:, None]).T @ z + penalty
        step = np.linalg.solve(hessian, z.T @ (weights * (p - y)) + penalty @ b)
        b -= step
        if np.abs(step).max() < CONVERGED:
            break
    return b


def probabilities(b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the probability of each case, shape (cases,), given bias and coefficients."""
    return 1 / (1 + np.exp(-b[0] - x @ b[1:]))
