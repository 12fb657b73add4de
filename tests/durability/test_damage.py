"""Flipped bits and truncated files anywhere in a knowledge base are noticed, or change nothing."""

import random
from itertools import islice
from pathlib import Path

from crash.amounts import Amount
from crash.damage import Damage


def test_damage_is_noticed_or_harmless(tmp_path: Path, amount: Amount) -> None:
    damage, chance = Damage(tmp_path), random.Random(8)
    outcomes = [damage.run(which, wound) for which, wound in islice(damage.wounds(chance), amount.damaged_files)]
    assert {"refused", "mended", "harmless"} <= set(outcomes)
