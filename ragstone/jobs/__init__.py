"""Work that a server or workers were told to do, written down before anybody is told that it will be done."""
