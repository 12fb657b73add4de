"""The vocabulary of all parts of Ragstone: records, filters, protocols, errors, and who may read what. No I/O."""
