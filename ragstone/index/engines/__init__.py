"""Search engines outside the process, each fed from the catalog."""
