"""The words that every part of Ragstone speaks: records, filters, protocols, errors, and who may read what. No I/O."""
