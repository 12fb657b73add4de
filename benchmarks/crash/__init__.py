"""What the benchmark ``durability`` and its tests share: power cuts, failing calls, kills, damage, and many readers."""
