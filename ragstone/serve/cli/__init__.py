"""The command line. Modules beyond the standard library and typer are imported inside the commands."""
