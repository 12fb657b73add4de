"""Starts Streamlit for the lab: on loopback if nothing else is asked for, without telemetry or downloads."""

from __future__ import annotations

import errno
import socket
from importlib.resources import files

from ragstone.core.errors import MissingExtra, UsageError

HOST = "127.0.0.1"
PORT = 8501
_OPTIONS = {
    "server.allowedHosts": [HOST, "localhost"],
    "server.fileWatcherType": "none",
    "server.showEmailPrompt": False,
    "server.enableAgentApi": False,
    "browser.serverAddress": HOST,
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "full",
    "client.showErrorLinks": False,
    "logger.hideWelcomeMessage": True,
    "logger.level": "warning",
    "runner.magicEnabled": False,
    "theme.light.primaryColor": "#2f6f8f",
    "theme.dark.primaryColor": "#6cb2d4",
    "theme.light.sidebar.backgroundColor": "#f5f6f4",
}


def refuse_missing() -> None:
    """Check that Streamlit is installed.

    Raises:
        MissingExtra: it is not.
    """
    from importlib.util import find_spec

    if find_spec("streamlit") is None:
        raise MissingExtra("streamlit", extra="lab")


def refuse_taken(host: str, port: int) -> None:
    """Check that the port of an address is free, with a clearer message than Streamlit's.

    Raises:
        UsageError: another program listens there, or it needs other rights.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            why = "another program uses it" if taken else error.strerror
            raise UsageError(f"port {port} of {host} cannot be used: {why}; choose another with --port") from error


def serve(host: str, port: int, *, browser: bool) -> None:
    """Serve the page at an address until Ctrl-C. Browsers still have to name this machine in the address bar."""
    from streamlit.web import bootstrap

    options = {
        **_OPTIONS,
        "server.address": host,
        "server.port": port,
        "browser.serverPort": port,
        "server.headless": not browser,
    }
    script = str(files("ragstone.serve.lab").joinpath("script", "ragstone_lab.py"))
    bootstrap.load_config_options(options)
    bootstrap.run(script, False, [], options)
