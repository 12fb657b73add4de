"""The parts of a version, by stage: each module has the record of its parts and builds them."""
