"""Files that survive a crash: atomic writes, mapped columns, formats, bounded caches."""
