"""Fault injection for the tests of durability: power cuts, failing calls, damage, kills, and concurrent readers."""
