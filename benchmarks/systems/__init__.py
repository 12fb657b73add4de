"""Whether the five presets do what the systems they stand for did: every feature, tried as a user tries it.

``python -m benchmarks.systems [--quick] [--only WORD] [--write] [PRESET ...]`` runs the command line and the HTTP
server on real data. A feature works (true), does not (false), or cannot be tried on this machine (null, with the
reason). ``--write`` puts the tables into docs/systems.md.

Each preset has one module with a `System` and one function per feature::

    SYSTEM = System(preset="news", data=("malaysian_news",))

    @SYSTEM.feature("articles fused by rank", "ragstone search QUESTION --explain")
    def fused_by_rank(room: Room) -> str:
        found = room.json("search", "Bilakah Agrobank ditubuhkan?", "--kb", articles(room), "--json")
        expect(len(found["hits"]) == 5, f"{len(found['hits'])} hits instead of 5")
        return "5 articles"

    def articles(room: Room) -> Path:
        return room.added("articles", room.data / "malaysian_news/dev/news.csv")

What the function returns is shown as what was seen. `expect` and every exception make the row false. `Unavailable`
makes it null. Functions of one preset run in order and share a `Room`: a folder, an environment without any keys or
settings of the caller, and the knowledge bases made so far. Each feature runs alone too, with ``--only``.
"""
