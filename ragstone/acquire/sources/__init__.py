"""Sources: find the files in folders and archives, and read each into its documents."""
