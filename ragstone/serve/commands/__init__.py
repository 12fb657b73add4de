"""The commands of the command line. What can one ask of Ragstone at a terminal?

Modules beyond the standard library and typer are imported inside the commands, so that help comes at once.
"""
