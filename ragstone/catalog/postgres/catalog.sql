-- The catalog of one version of a knowledge base, in a schema of its own. Format version 1. What the tables are is told
-- in ragstone/index/schema.sql; here is what differs. Texts are compared byte by byte (COLLATE "C"), as they are there.
-- Texts of any length can be ids and sources, but not keys of an index: their hashes, and beginnings, are.

CREATE TABLE about (
    one        integer PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    built_with text NOT NULL,
    crc        bigint NOT NULL
);

CREATE TABLE commits (
    generation bigint PRIMARY KEY,
    mark       text NOT NULL
);

CREATE SEQUENCE contents_numbers;
CREATE TABLE contents (
    content bigint PRIMARY KEY DEFAULT nextval('contents_numbers'),
    hash    text COLLATE "C" NOT NULL UNIQUE,
    text    text NOT NULL
);

CREATE SEQUENCE documents_numbers;
CREATE TABLE documents (
    document    bigint PRIMARY KEY DEFAULT nextval('documents_numbers'),
    id          text COLLATE "C" NOT NULL,
    id_hash     text COLLATE "C" NOT NULL UNIQUE,
    content     bigint NOT NULL REFERENCES contents,
    source      text COLLATE "C" NOT NULL,
    source_hash text COLLATE "C" NOT NULL,
    title       text COLLATE "C" NOT NULL,
    url         text COLLATE "C" NOT NULL,
    metadata    text NOT NULL,
    marks       text NOT NULL,
    chunks      bigint NOT NULL,
    signature   text NOT NULL,
    added_at    text NOT NULL
);
CREATE INDEX documents_content ON documents (content);
CREATE INDEX documents_id ON documents (left(id, 500));
CREATE INDEX documents_source ON documents (left(source, 500));
CREATE INDEX documents_source_hash ON documents (source_hash);
CREATE INDEX documents_title_name ON documents (left(lower(regexp_replace(title, '^.*/', '')), 500));
CREATE INDEX documents_id_name ON documents (left(lower(regexp_replace(id, '^.*/', '')), 500));

CREATE TABLE files (
    source      text COLLATE "C" NOT NULL,
    source_hash text COLLATE "C" PRIMARY KEY,
    stamp       text NOT NULL
);

CREATE SEQUENCE vectors_numbers;
CREATE TABLE vectors (
    vector bigint PRIMARY KEY DEFAULT nextval('vectors_numbers'),
    hash   text COLLATE "C" NOT NULL UNIQUE,
    value  bytea NOT NULL,              -- little-endian float32
    crc    bigint NOT NULL
);
ALTER TABLE vectors ALTER COLUMN value SET STORAGE EXTERNAL;

CREATE SEQUENCE chunks_numbers;
CREATE TABLE chunks (
    row        bigint PRIMARY KEY DEFAULT nextval('chunks_numbers'),
    id         text COLLATE "C" NOT NULL UNIQUE,
    document   bigint NOT NULL REFERENCES documents,
    position   integer NOT NULL,
    start      integer NOT NULL,
    "end"      integer NOT NULL,
    context    text NOT NULL,
    facts      text NOT NULL,
    vector     bigint NOT NULL REFERENCES vectors,
    generation bigint NOT NULL
);
CREATE INDEX chunks_document ON chunks (document, position);
CREATE INDEX chunks_vector ON chunks (vector);
CREATE INDEX chunks_generation ON chunks (generation, row);

CREATE TABLE removals (
    row        bigint PRIMARY KEY,
    generation bigint NOT NULL
);
CREATE INDEX removals_generation ON removals (generation);

-- A value is a text (kind t), a number (n), or neither (b: a truth value, or NaN). Numbers are compared exactly.
CREATE TABLE facts (
    document bigint NOT NULL REFERENCES documents,
    chunk    bigint REFERENCES chunks,
    key      text COLLATE "C" NOT NULL,
    kind     text COLLATE "C" NOT NULL,
    value    text COLLATE "C" NOT NULL,
    number   numeric
);
CREATE INDEX facts_text ON facts (left(key, 100), kind, left(value, 100));
CREATE INDEX facts_number ON facts (left(key, 100), number) WHERE kind = 'n';
CREATE INDEX facts_document ON facts (document, chunk);
CREATE INDEX facts_chunk ON facts (chunk) WHERE chunk IS NOT NULL;

CREATE TABLE layouts (
    document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    value    bytea NOT NULL,            -- as ragstone/core/layout.py packs boxes
    crc      bigint NOT NULL
);

CREATE TABLE skipped (
    source      text COLLATE "C" NOT NULL,
    source_hash text COLLATE "C" PRIMARY KEY,
    reason      text NOT NULL
);
