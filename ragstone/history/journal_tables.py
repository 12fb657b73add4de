"""The journal's tables, format by format.

A migration consists of ``CREATE TABLE``, ``CREATE INDEX`` and ``ALTER TABLE`` with the types INTEGER, REAL and TEXT;
`ragstone.history.postgres_journal` translates the types, so that one migration serves both databases.
"""

from __future__ import annotations

from collections.abc import Callable

from ragstone.history.store import JournalDatabase


def _m001_conversations(db: JournalDatabase) -> None:
    """Questions and answers of conversations, in their order. Times are seconds since 1970, UTC."""
    db.execute(
        """
        CREATE TABLE turns (
            turn     INTEGER PRIMARY KEY AUTOINCREMENT,
            session  TEXT NOT NULL,
            at       REAL NOT NULL,
            question TEXT NOT NULL,
            answer   TEXT NOT NULL,
            crc      INTEGER NOT NULL            -- of all the rest but the number
        )
        """
    )
    db.execute("CREATE INDEX turns_session ON turns (session, turn)")
    db.execute("CREATE INDEX turns_at ON turns (at)")


def _m002_spending(db: JournalDatabase) -> None:
    """Calls of language models, and their cost in billionths; calls of past days are sums."""
    db.execute(
        """
        CREATE TABLE calls (
            call       INTEGER PRIMARY KEY AUTOINCREMENT,
            day        TEXT NOT NULL,            -- of UTC, as 2026-01-31
            job        TEXT NOT NULL,            -- the question or ingest that the call was made for
            purpose    TEXT NOT NULL,
            model      TEXT NOT NULL,
            prompt     INTEGER NOT NULL,         -- tokens
            completion INTEGER NOT NULL,
            cost       INTEGER,                  -- NULL where no price is known
            open       INTEGER NOT NULL,         -- 1: the call is under way, and the numbers are the most it may take
            crc        INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX calls_day ON calls (day)")
    db.execute(
        """
        CREATE TABLE days (
            day        TEXT NOT NULL,
            purpose    TEXT NOT NULL,
            model      TEXT NOT NULL,
            calls      INTEGER NOT NULL,
            unpriced   INTEGER NOT NULL,         -- calls without a known price
            prompt     INTEGER NOT NULL,
            completion INTEGER NOT NULL,
            cost       INTEGER NOT NULL,
            PRIMARY KEY (day, purpose, model)
        )
        """
    )


def _m003_keys(db: JournalDatabase) -> None:
    """Keys of the HTTP API. Only a hash of the key itself is stored."""
    db.execute(
        """
        CREATE TABLE keys (
            id      TEXT PRIMARY KEY,            -- beginning of the key, fit to be shown
            name    TEXT NOT NULL,
            hash    TEXT NOT NULL UNIQUE,        -- SHA-256, hexadecimal
            scopes  TEXT NOT NULL,               -- JSON, a list
            groups  TEXT,                        -- JSON, a list; NULL: may read everything
            limits  TEXT NOT NULL,               -- JSON, an object
            made    REAL NOT NULL,
            revoked REAL,
            crc     INTEGER NOT NULL
        )
        """
    )


def _m004_responses(db: JournalDatabase) -> None:
    """Answers, and the votes on them. A voter who changes their mind appends a row."""
    db.execute(
        """
        CREATE TABLE responses (
            id       TEXT PRIMARY KEY,
            at       REAL NOT NULL,
            reader   TEXT NOT NULL,              -- whose it is; empty: the owner's of the files
            question TEXT NOT NULL,
            answer   TEXT NOT NULL,              -- JSON, as interfaces give it
            crc      INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX responses_at ON responses (at)")
    db.execute(
        """
        CREATE TABLE feedback (
            number     INTEGER PRIMARY KEY AUTOINCREMENT,
            response   TEXT NOT NULL,
            voice      TEXT NOT NULL,
            at         REAL NOT NULL,
            vote       INTEGER NOT NULL,         -- 1 or -1
            reason     TEXT NOT NULL,
            correction TEXT NOT NULL,            -- the source that would have been right
            crc        INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX feedback_response ON feedback (response, voice)")


def _m005_statistics(db: JournalDatabase) -> None:
    """Events in each hour of UTC: counts by kind and name, and sums and histograms of measured values."""
    db.execute(
        """
        CREATE TABLE hours (
            hour    TEXT NOT NULL,               -- as 2026-01-31T07
            kind    TEXT NOT NULL,
            name    TEXT NOT NULL,
            count   INTEGER NOT NULL,
            total   REAL NOT NULL,
            buckets TEXT NOT NULL,               -- JSON, a list of counts; empty where nothing is measured
            PRIMARY KEY (hour, kind, name)
        )
        """
    )


def _m006_served(db: JournalDatabase) -> None:
    """Jobs of a server, so that they run even if the server stops; and the costs of keys."""
    db.execute(
        """
        CREATE TABLE jobs (
            id      TEXT PRIMARY KEY,
            at      REAL NOT NULL,
            reader  TEXT NOT NULL,               -- whose it is; empty: the owner's of the files
            kind    TEXT NOT NULL,
            what    TEXT NOT NULL,               -- JSON, an object: what is to be done
            state   TEXT NOT NULL,
            server  TEXT NOT NULL,               -- the process that does it
            tries   INTEGER NOT NULL,
            ended   REAL,
            result  TEXT NOT NULL,               -- JSON, an object: the report, or what went wrong
            crc     INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX jobs_at ON jobs (at)")
    db.execute(
        """
        CREATE TABLE key_costs (
            day  TEXT NOT NULL,                  -- of UTC, as 2026-01-31
            id   TEXT NOT NULL,
            cost INTEGER NOT NULL,               -- billionths
            PRIMARY KEY (day, id)
        )
        """
    )


def _m007_learning(db: JournalDatabase) -> None:
    """What was learned from votes, and the evidence for it.

    The tables are append-only. They contain no question and no name: readers are hashes keyed with the first policy's
    seed.
    """
    db.execute(
        """
        CREATE TABLE policies (
            version INTEGER PRIMARY KEY,         -- 0: the settings as they are
            at      REAL NOT NULL,
            what    TEXT NOT NULL,               -- canonical JSON
            crc     INTEGER NOT NULL
        )
        """
    )
    db.execute(
        """
        CREATE TABLE trials (
            trial INTEGER PRIMARY KEY,
            at    REAL NOT NULL,
            what  TEXT NOT NULL,                 -- canonical JSON
            crc   INTEGER NOT NULL
        )
        """
    )
    db.execute(
        """
        CREATE TABLE assignments (
            number      INTEGER PRIMARY KEY AUTOINCREMENT,
            at          REAL NOT NULL,
            response    TEXT NOT NULL UNIQUE,
            trial       INTEGER NOT NULL,        -- 0: none was under way
            version     INTEGER NOT NULL,        -- what chance chose
            probability REAL NOT NULL,           -- of that choice
            acted       INTEGER NOT NULL,        -- what answered: the same, but in shadow
            kind        TEXT NOT NULL,           -- of the question
            voice       TEXT NOT NULL,           -- who asked, as a hash
            crc         INTEGER NOT NULL
        )
        """
    )
    db.execute(
        """
        CREATE TABLE votes (
            number   INTEGER PRIMARY KEY AUTOINCREMENT,
            at       REAL NOT NULL,
            response TEXT NOT NULL,
            voice    TEXT NOT NULL,              -- who said it, as a hash
            vote     INTEGER NOT NULL,           -- 1 or -1
            seen     TEXT NOT NULL,              -- JSON: what was voted on, in figures
            crc      INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX votes_response ON votes (response, voice)")
    db.execute(
        """
        CREATE TABLE decisions (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at     REAL NOT NULL,
            what   TEXT NOT NULL,                -- canonical JSON: on what, with which figures, what holds now
            crc    INTEGER NOT NULL
        )
        """
    )


def _m008_workers(db: JournalDatabase) -> None:
    """Jobs that any worker may take. ``due`` is moved by each heartbeat, so it is in no checksum."""
    db.execute("ALTER TABLE jobs ADD COLUMN due REAL")  # when any worker may take it; NULL: it is the server's own
    db.execute("CREATE INDEX jobs_due ON jobs (due) WHERE ended IS NULL AND due IS NOT NULL")


def _m009_names(db: JournalDatabase) -> None:
    """People's titles of their conversations, and their pinned ones."""
    db.execute(
        """
        CREATE TABLE names (
            session TEXT PRIMARY KEY,
            title   TEXT NOT NULL,               -- empty: its first question
            pinned  INTEGER NOT NULL,            -- 1: it stands before the others
            crc     INTEGER NOT NULL
        )
        """
    )


def _m010_people(db: JournalDatabase) -> None:
    """People who sign in, their sessions, and the acts of administrators."""
    db.execute(
        """
        CREATE TABLE users (
            name    TEXT PRIMARY KEY,
            hash    TEXT NOT NULL,               -- of the password: Argon2id, in the PHC string format
            scopes  TEXT NOT NULL,               -- JSON, a list
            groups  TEXT,                        -- JSON, a list; NULL: may read everything
            made    REAL NOT NULL,
            removed REAL,                        -- a removed one stays, so that the server is never open again
            crc     INTEGER NOT NULL
        )
        """
    )
    db.execute(
        """
        CREATE TABLE sessions (
            hash   TEXT PRIMARY KEY,             -- SHA-256 of the cookie, hexadecimal
            name   TEXT NOT NULL,                -- of the reader
            shown  TEXT NOT NULL,                -- what the person is called
            via    TEXT NOT NULL,                -- password, or oidc
            scopes TEXT NOT NULL,                -- JSON, a list
            groups TEXT,                         -- JSON, a list; NULL: may read everything
            made   REAL NOT NULL,
            until  REAL NOT NULL,
            used   REAL NOT NULL,                -- moved by requests, so it is in no checksum
            crc    INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX sessions_name ON sessions (name)")
    db.execute(
        """
        CREATE TABLE sign_ins (
            state    TEXT PRIMARY KEY,           -- SHA-256 of what the provider sends back, hexadecimal
            browser  TEXT NOT NULL,              -- SHA-256 of the cookie of the browser that began
            nonce    TEXT NOT NULL,
            verifier TEXT NOT NULL,              -- of PKCE
            place    TEXT NOT NULL,              -- where in the page to go on
            until    REAL NOT NULL
        )
        """
    )
    db.execute(
        """
        CREATE TABLE audit (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at     REAL NOT NULL,
            who    TEXT NOT NULL,                -- empty: somebody on the server's machine
            act    TEXT NOT NULL,
            what   TEXT NOT NULL,
            crc    INTEGER NOT NULL
        )
        """
    )


def _m011_tokens(db: JournalDatabase) -> None:
    """Short-lived tokens that sites make for their visitors."""
    db.execute(
        """
        CREATE TABLE tokens (
            hash    TEXT PRIMARY KEY,            -- SHA-256 of the token, hexadecimal
            key     TEXT NOT NULL,               -- id of the key that made it
            visitor TEXT NOT NULL,               -- what the site calls the visitor
            groups  TEXT NOT NULL,               -- JSON, a list
            until   REAL NOT NULL,
            crc     INTEGER NOT NULL
        )
        """
    )


def _m012_shares(db: JournalDatabase) -> None:
    """Links to conversations, as they were when each link was made."""
    db.execute(
        """
        CREATE TABLE shares (
            hash    TEXT PRIMARY KEY,            -- SHA-256 of what the link ends with, hexadecimal
            session TEXT NOT NULL,
            newest  INTEGER NOT NULL,            -- the last turn that the link shows
            made    REAL NOT NULL,
            until   REAL,                        -- NULL: as long as the conversation is kept
            crc     INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX shares_session ON shares (session)")


def _m013_schedules(db: JournalDatabase) -> None:
    """Sources with a schedule."""
    db.execute(
        """
        CREATE TABLE schedules (
            source TEXT PRIMARY KEY,
            every  REAL NOT NULL,                -- seconds
            paused INTEGER NOT NULL,             -- 1: it is not synced until somebody resumes it
            due    REAL NOT NULL,                -- when it is synced next
            crc    INTEGER NOT NULL
        )
        """
    )


def _m014_changed_settings(db: JournalDatabase) -> None:
    """Settings of questions that administrators changed while servers run."""
    db.execute(
        """
        CREATE TABLE changed_settings (
            path  TEXT PRIMARY KEY,              -- such as rank.top_k
            value TEXT NOT NULL,                 -- JSON
            at    REAL NOT NULL,
            crc   INTEGER NOT NULL
        )
        """
    )


MIGRATIONS: tuple[Callable[[JournalDatabase], None], ...] = (
    _m001_conversations,
    _m002_spending,
    _m003_keys,
    _m004_responses,
    _m005_statistics,
    _m006_served,
    _m007_learning,
    _m008_workers,
    _m009_names,
    _m010_people,
    _m011_tokens,
    _m012_shares,
    _m013_schedules,
    _m014_changed_settings,
)
"""Migrations from nothing to format 1, from 1 to 2, and so on.

A published one is never edited; a new format appends one.
"""
FORMAT = len(MIGRATIONS)
