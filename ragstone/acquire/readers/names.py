"""What the name of a file says: how it is read, and whether it is left out."""

from __future__ import annotations

from pathlib import PurePath

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif")
"""Suffixes of the pictures that can be read and drawn."""
LANGUAGES = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts", ".tsx"), "typescript"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp", ".tpp", ".ino"), "cpp"),
    **dict.fromkeys((".cu", ".cuh"), "cuda"),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), "shell"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    **dict.fromkeys((".scala", ".sc"), "scala"),
    **dict.fromkeys((".rb", ".rake"), "ruby"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    **dict.fromkeys((".f", ".f90", ".f95", ".for"), "fortran"),
    ".java": "java", ".cs": "csharp", ".go": "go", ".rs": "rust", ".php": "php", ".swift": "swift", ".sql": "sql",
    ".lua": "lua", ".r": "r", ".jl": "julia", ".m": "matlab", ".ps1": "powershell", ".dart": "dart", ".zig": "zig",
    ".hs": "haskell", ".proto": "protobuf", ".cmake": "cmake", ".mk": "make", ".vb": "vb", ".qasm": "qasm",
}  # fmt: skip
"""The programming language of a suffix."""

SETTINGS = {
    ".xml": "xml", ".xsd": "xml", ".xsl": "xml", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".ini": "ini",
    ".cfg": "ini", ".conf": "ini", ".properties": "ini", ".log": "log",
}  # fmt: skip
"""The format of a suffix, for files that programs read or write and people look up by line."""

_BY_NAME = {
    "makefile": ".mk", "gnumakefile": ".mk", "cmakelists.txt": ".cmake", "rakefile": ".rb", "gemfile": ".rb",
    "mbox": ".mbox", "inbox": ".mbox",
}  # fmt: skip
"""The suffix that a name stands for."""
_LEFT_OUT = {
    "a picture of a kind that is not read; save it as PNG or JPEG": (
        ".ico .icns .heic .avif .svg .psd .ai .eps .raw .cr2 .xcf"
    ),
    "a recording, and Ragstone reads text; a transcript can be read": (
        ".mp3 .wav .ogg .flac .m4a .aac .opus .wma .mid .mp4 .mkv .avi .mov .webm .wmv .m4v .mpg .mpeg"
    ),
    "a font": ".ttf .otf .woff .woff2 .eot",
    "a program": ".exe .dll .so .dylib .a .o .lib .bin .pyc .pyo .class .jar .war .wasm .apk .msi .deb .rpm .whl",
    "a kind of archive that is not opened; zip and gz are": ".7z .rar .tar .tgz .bz2 .xz .zst .iso .dmg .cab",
    "data for programs, not text": (
        ".db .sqlite .sqlite3 .mdb .accdb .feather .arrow .avro .npy .npz .pkl .pickle .h5 .hdf5 .onnx .pt"
        " .pth .safetensors .gguf .ckpt .mat .pst .ost"
    ),
    "made from other files, for programs": ".map .lock",
    "left out because it may hold passwords or keys": (
        ".env .pem .p12 .pfx .jks .keystore .kdbx .ppk .gpg .pgp .crt .cer .der .ovpn"
    ),
    "left out because it may hold passwords or keys; export a Keynote presentation as PDF or PowerPoint": ".key",
}
_REASONS = {suffix: reason for reason, suffixes in _LEFT_OUT.items() for suffix in suffixes.split()}
_SECRET_NAMES = frozenset({
    ".env", ".netrc", ".pgpass", ".htpasswd", "htpasswd", ".npmrc", ".pypirc", ".git-credentials", "credentials",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "secrets.yaml", "secrets.yml", "secrets.toml", "secrets.json",
})  # fmt: skip


def suffix_of(path: PurePath) -> str:
    """Return the suffix that decides how a file is read, in lower case; empty if its name says nothing.

    Messages of a mail folder (Maildir) have no suffix: they lie in the folders ``cur`` and ``new``, and their names
    begin with a time.
    """
    name = path.name.lower()
    if path.parent.name in ("cur", "new") and name.partition(".")[0].isdecimal():
        return ".eml"
    return _BY_NAME.get(name, path.suffix.lower())


def left_out(name: str) -> str:
    """Return why a file of this name is never read; empty if it may be."""
    path = PurePath(name.lower())
    if path.name in _SECRET_NAMES or path.name.startswith(".env."):
        return _REASONS[".env"]
    return _REASONS.get(path.suffix, "")
