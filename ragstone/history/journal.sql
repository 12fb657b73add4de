-- The journal's tables. `ragstone.history.postgres_journal` translates the types INTEGER, REAL and TEXT, so that one
-- text serves SQLite and PostgreSQL. Times are seconds since 1970, UTC.

-- Questions and answers of conversations, in their order.
CREATE TABLE turns (
    turn     INTEGER PRIMARY KEY AUTOINCREMENT,
    session  TEXT NOT NULL,
    at       REAL NOT NULL,
    question TEXT NOT NULL,
    answer   TEXT NOT NULL,
    crc      INTEGER NOT NULL            -- of all the rest but the number
);
CREATE INDEX turns_session ON turns (session, turn);
CREATE INDEX turns_at ON turns (at);

-- Calls of language models, and their cost in billionths; calls of past days are sums.
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
);
CREATE INDEX calls_day ON calls (day);
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
);

-- Keys of the HTTP API. Only a hash of the key itself is stored.
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
);

-- Answers, and the votes on them. A voter who changes their mind appends a row.
CREATE TABLE responses (
    id       TEXT PRIMARY KEY,
    at       REAL NOT NULL,
    reader   TEXT NOT NULL,              -- whose it is; empty: the owner's of the files
    question TEXT NOT NULL,
    answer   TEXT NOT NULL,              -- JSON, as interfaces give it
    crc      INTEGER NOT NULL
);
CREATE INDEX responses_at ON responses (at);
CREATE TABLE feedback (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    response   TEXT NOT NULL,
    voice      TEXT NOT NULL,
    at         REAL NOT NULL,
    vote       INTEGER NOT NULL,         -- 1 or -1
    reason     TEXT NOT NULL,
    correction TEXT NOT NULL,            -- the source that would have been right
    crc        INTEGER NOT NULL
);
CREATE INDEX feedback_response ON feedback (response, voice);

-- Events in each hour of UTC: counts by kind and name, and sums and histograms of measured values.
CREATE TABLE hours (
    hour    TEXT NOT NULL,               -- as 2026-01-31T07
    kind    TEXT NOT NULL,
    name    TEXT NOT NULL,
    count   INTEGER NOT NULL,
    total   REAL NOT NULL,
    buckets TEXT NOT NULL,               -- JSON, a list of counts; empty where nothing is measured
    PRIMARY KEY (hour, kind, name)
);

-- Jobs of a server, so that they run even if the server stops; and the costs of keys.
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
    crc     INTEGER NOT NULL,            -- of all the rest but due, which each heartbeat moves
    due     REAL                         -- when any worker may take it; NULL: it is the server's own
);
CREATE INDEX jobs_at ON jobs (at);
CREATE INDEX jobs_due ON jobs (due) WHERE ended IS NULL AND due IS NOT NULL;
CREATE TABLE key_costs (
    day  TEXT NOT NULL,                  -- of UTC, as 2026-01-31
    id   TEXT NOT NULL,
    cost INTEGER NOT NULL,               -- billionths
    PRIMARY KEY (day, id)
);

-- What was learned from votes, and the evidence for it. The tables are append-only. They contain no question and no
-- name: readers are hashes keyed with the first policy's seed.
CREATE TABLE policies (
    version INTEGER PRIMARY KEY,         -- 0: the settings as they are
    at      REAL NOT NULL,
    what    TEXT NOT NULL,               -- canonical JSON
    crc     INTEGER NOT NULL
);
CREATE TABLE trials (
    trial INTEGER PRIMARY KEY,
    at    REAL NOT NULL,
    what  TEXT NOT NULL,                 -- canonical JSON
    crc   INTEGER NOT NULL
);
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
);
CREATE TABLE votes (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    at       REAL NOT NULL,
    response TEXT NOT NULL,
    voice    TEXT NOT NULL,              -- who said it, as a hash
    vote     INTEGER NOT NULL,           -- 1 or -1
    seen     TEXT NOT NULL,              -- JSON: what was voted on, in figures
    crc      INTEGER NOT NULL
);
CREATE INDEX votes_response ON votes (response, voice);
CREATE TABLE decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at     REAL NOT NULL,
    what   TEXT NOT NULL,                -- canonical JSON: on what, with which figures, what holds now
    crc    INTEGER NOT NULL
);

-- People's titles of their conversations, and their pinned ones.
CREATE TABLE names (
    session TEXT PRIMARY KEY,
    title   TEXT NOT NULL,               -- empty: its first question
    pinned  INTEGER NOT NULL,            -- 1: it stands before the others
    crc     INTEGER NOT NULL
);

-- People who sign in, their sessions, and the acts of administrators.
CREATE TABLE users (
    name    TEXT PRIMARY KEY,
    hash    TEXT NOT NULL,               -- of the password: Argon2id, in the PHC string format
    scopes  TEXT NOT NULL,               -- JSON, a list
    groups  TEXT,                        -- JSON, a list; NULL: may read everything
    made    REAL NOT NULL,
    removed REAL,                        -- a removed one stays, so that the server is never open again
    crc     INTEGER NOT NULL
);
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
);
CREATE INDEX sessions_name ON sessions (name);
CREATE TABLE sign_ins (
    state    TEXT PRIMARY KEY,           -- SHA-256 of what the provider sends back, hexadecimal
    browser  TEXT NOT NULL,              -- SHA-256 of the cookie of the browser that began
    nonce    TEXT NOT NULL,
    verifier TEXT NOT NULL,              -- of PKCE
    place    TEXT NOT NULL,              -- where in the page to go on
    until    REAL NOT NULL
);
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at     REAL NOT NULL,
    who    TEXT NOT NULL,                -- empty: somebody on the server's machine
    act    TEXT NOT NULL,
    what   TEXT NOT NULL,
    crc    INTEGER NOT NULL
);

-- Short-lived tokens that sites make for their visitors.
CREATE TABLE tokens (
    hash    TEXT PRIMARY KEY,            -- SHA-256 of the token, hexadecimal
    key     TEXT NOT NULL,               -- id of the key that made it
    visitor TEXT NOT NULL,               -- what the site calls the visitor
    groups  TEXT NOT NULL,               -- JSON, a list
    until   REAL NOT NULL,
    crc     INTEGER NOT NULL
);

-- Links to conversations, as they were when each link was made.
CREATE TABLE shares (
    hash    TEXT PRIMARY KEY,            -- SHA-256 of what the link ends with, hexadecimal
    session TEXT NOT NULL,
    newest  INTEGER NOT NULL,            -- the last turn that the link shows
    made    REAL NOT NULL,
    until   REAL,                        -- NULL: as long as the conversation is kept
    crc     INTEGER NOT NULL
);
CREATE INDEX shares_session ON shares (session);

-- Sources with a schedule.
CREATE TABLE schedules (
    source TEXT PRIMARY KEY,
    every  REAL NOT NULL,                -- seconds
    paused INTEGER NOT NULL,             -- 1: it is not synced until somebody resumes it
    due    REAL NOT NULL,                -- when it is synced next
    crc    INTEGER NOT NULL
);

-- Settings of questions that administrators changed while servers run.
CREATE TABLE changed_settings (
    path  TEXT PRIMARY KEY,              -- such as rank.top_k
    value TEXT NOT NULL,                 -- JSON
    at    REAL NOT NULL,
    crc   INTEGER NOT NULL
);
