-- Documents and their pieces. Uuid keys, so that rows made on several hosts never meet.

CREATE TABLE information_search.documents (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    title       text NOT NULL DEFAULT '',
    url         text NOT NULL DEFAULT '',
    source_type text NOT NULL DEFAULT '',
    readers     text[],             -- groups that may read it; NULL: everyone; empty: nobody
    metadata    jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    title_terms tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('pg_catalog.simple', title)) STORED
);

CREATE TABLE information_search.document_chunks (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    document_id   uuid NOT NULL REFERENCES information_search.documents ON DELETE CASCADE,
    chunk_index   integer NOT NULL DEFAULT 0,
    chunk_content text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    content_terms tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('pg_catalog.simple', chunk_content)) STORED
);

CREATE INDEX documents_title_terms ON information_search.documents USING gin (title_terms);
CREATE INDEX documents_source_type ON information_search.documents (source_type);
CREATE INDEX document_chunks_content_terms ON information_search.document_chunks USING gin (content_terms);
CREATE INDEX document_chunks_document ON information_search.document_chunks (document_id, chunk_index);
