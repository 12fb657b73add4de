-- The catalog: everything that cannot be computed again.

-- One row: what the knowledge base was built with (JSON).
CREATE TABLE about (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    built_with TEXT NOT NULL,
    crc        INTEGER NOT NULL
);

-- One row a commit, the first for the empty catalog. A copy that was put back numbers its next commits as they
-- were numbered before, but their random marks differ, which tells an index that it followed another history.
CREATE TABLE commits (
    generation INTEGER PRIMARY KEY,
    mark       TEXT NOT NULL
);

-- Texts of documents. The same text twice is one row here; the last document that has it takes it along.
CREATE TABLE contents (
    content INTEGER PRIMARY KEY,
    hash    TEXT NOT NULL UNIQUE,
    text    TEXT NOT NULL
);

CREATE TABLE documents (
    document  INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    content   INTEGER NOT NULL REFERENCES contents,
    source    TEXT NOT NULL,
    title     TEXT NOT NULL,
    url       TEXT NOT NULL,
    metadata  TEXT NOT NULL,        -- JSON
    marks     TEXT NOT NULL,        -- JSON: headings, pages, code and tables
    chunks    INTEGER NOT NULL,
    signature TEXT NOT NULL,        -- hash of all of the above: equal means unchanged
    added_at  TEXT NOT NULL
);
CREATE INDEX documents_content ON documents (content);
CREATE INDEX documents_source ON documents (source);
-- Names as questions write them: the title and the id, or what follows their last slash, in lower case.
CREATE INDEX documents_title_name ON documents (lower(substr(title, length(rtrim(title, replace(title, '/', ''))) + 1)));
CREATE INDEX documents_id_name ON documents (lower(substr(id, length(rtrim(id, replace(id, '/', ''))) + 1)));

-- Files of which everything is stored, and the state they were in; such a file need not be read again.
CREATE TABLE files (
    source TEXT PRIMARY KEY,
    stamp  TEXT NOT NULL
);

-- One vector for each embedded text, by the hash of that text.
CREATE TABLE vectors (
    vector INTEGER PRIMARY KEY,
    hash   TEXT NOT NULL UNIQUE,
    value  BLOB NOT NULL,           -- little-endian float32
    crc    INTEGER NOT NULL  -- CRC-32 of the value
);

-- Spans of documents. A row number is never used twice; indexes know a chunk by it.
CREATE TABLE chunks (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    document   INTEGER NOT NULL REFERENCES documents,
    position   INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    end        INTEGER NOT NULL,
    context    TEXT NOT NULL,       -- embedded and analysed before the text
    facts      TEXT NOT NULL,       -- the chunk's own metadata, JSON
    vector     INTEGER NOT NULL REFERENCES vectors,
    generation INTEGER NOT NULL
);
CREATE INDEX chunks_document ON chunks (document, position);
CREATE INDEX chunks_vector ON chunks (vector);
CREATE INDEX chunks_generation ON chunks (generation);

-- The other half of the change log: rows that are gone.
CREATE TABLE removals (
    row        INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL
);
CREATE INDEX removals_generation ON removals (generation);

-- Metadata, one row a value, for filters: of a document, or of one chunk of it. Booleans are blobs, so that they
-- equal no number.
CREATE TABLE facts (
    document INTEGER NOT NULL REFERENCES documents,
    chunk    INTEGER REFERENCES chunks (row),
    key      TEXT NOT NULL,
    value    NOT NULL
);
CREATE INDEX facts_key ON facts (key, value, document, chunk);
CREATE INDEX facts_document ON facts (document, chunk);
CREATE INDEX facts_chunk ON facts (chunk) WHERE chunk IS NOT NULL;

-- Where the words of a document stand on its pages; only documents that have pages have a row.
CREATE TABLE layouts (
    document INTEGER PRIMARY KEY REFERENCES documents,
    value    BLOB NOT NULL,         -- as ragstone/core/layout.py packs boxes
    crc      INTEGER NOT NULL       -- CRC-32 of the value
);

-- What could not be read the last time it was tried.
CREATE TABLE skipped (
    source TEXT PRIMARY KEY,
    reason TEXT NOT NULL
);
