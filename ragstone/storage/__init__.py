"""Files that survive a crash: atomic writes, mapped columns, migrations, bounded caches."""
