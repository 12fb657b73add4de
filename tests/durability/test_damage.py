"""Flipped bits and files cut short, anywhere in a knowledge base: noticed, or without consequence."""

import random
from itertools import islice
from pathlib import Path

from benchmarks.crash.damage import Damage

TRIED = 40


def test_no_damage_goes_unnoticed(tmp_path: Path):
    damage, chance = Damage(tmp_path), random.Random(8)
    outcomes = [damage.run(which, wound) for which, wound in islice(damage.wounds(chance), TRIED)]
    assert {"refused", "mended", "harmless"} <= set(outcomes)
