-- Words as a language has them, for each document: by default none has any, and words are compared as they are written.
-- And whose the rows are that a knowledge base fills in by itself.

-- The name of a text search configuration is kept as text: columns of the type regconfig forbid pg_upgrade. Who changes
-- a configuration must fill the tables anew; only therefore may this call itself immutable.
CREATE OR REPLACE FUNCTION information_search.terms(configuration text, content text)
RETURNS tsvector
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SET search_path = ''
AS $function$
    SELECT to_tsvector(configuration::regconfig, content);
$function$;

ALTER TABLE information_search.documents
    ADD COLUMN knowledge_base text NOT NULL DEFAULT '',     -- empty: of no knowledge base
    ADD COLUMN signature text NOT NULL DEFAULT '',          -- what the row was made from
    ADD COLUMN configuration text NOT NULL DEFAULT 'pg_catalog.simple',
    DROP COLUMN title_terms;
ALTER TABLE information_search.documents
    ADD COLUMN title_terms tsvector NOT NULL
        GENERATED ALWAYS AS (information_search.terms(configuration, title)) STORED;
ALTER TABLE information_search.document_chunks
    ADD COLUMN configuration text NOT NULL DEFAULT 'pg_catalog.simple',
    DROP COLUMN content_terms;
ALTER TABLE information_search.document_chunks
    ADD COLUMN content_terms tsvector NOT NULL
        GENERATED ALWAYS AS (information_search.terms(configuration, chunk_content)) STORED;

CREATE INDEX documents_title_terms ON information_search.documents USING gin (title_terms);
CREATE INDEX document_chunks_content_terms ON information_search.document_chunks USING gin (content_terms);
CREATE INDEX documents_configuration ON information_search.documents (configuration);
CREATE INDEX documents_knowledge_base ON information_search.documents (knowledge_base) WHERE knowledge_base <> '';

DROP FUNCTION information_search.any_word(text);

-- The words of a text, cleaned of all punctuation, any of which may match. A word of three letters or more also finds
-- those that begin with it.
CREATE OR REPLACE FUNCTION information_search.any_word(configuration text, query_text text)
RETURNS tsquery
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = ''
AS $function$
    SELECT to_tsquery(
        configuration::regconfig,
        string_agg(CASE WHEN length(word) >= 3 THEN word || ':*' ELSE word END, ' | ' ORDER BY place)
    )
    FROM regexp_split_to_table(lower(query_text), '[[:space:][:punct:][:cntrl:]]+') WITH ORDINALITY AS words (word, place)
    WHERE word <> '';
$function$;

-- The best chunks of the documents of one configuration.
CREATE OR REPLACE FUNCTION information_search.best_chunks(
    of_configuration text,
    wanted           tsquery,
    with_titles      boolean,
    least_rank       double precision,
    most             integer
)
RETURNS TABLE (
    id            uuid,
    document_id   uuid,
    title         text,
    chunk_content text,
    rank          double precision,
    url           text,
    source_type   text,
    of_content    double precision,
    chunk_index   integer
)
LANGUAGE plpgsql
STABLE
SECURITY INVOKER
SET search_path = ''
AS $function$
#variable_conflict use_column
DECLARE
    title_weight CONSTANT double precision := 1.5;
BEGIN
    IF wanted IS NULL OR numnode(wanted) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
        WITH matching AS (
            SELECT c.id
            FROM information_search.document_chunks AS c
            WHERE c.content_terms @@ wanted AND c.configuration = of_configuration
            UNION
            SELECT c.id
            FROM information_search.documents AS d
            JOIN information_search.document_chunks AS c ON c.document_id = d.id
            WHERE with_titles AND d.title_terms @@ wanted AND d.configuration = of_configuration
        ),
        ranked AS (
            SELECT c.id, d.id AS document_id, d.title, c.chunk_content, d.url, d.source_type, c.chunk_index,
                ts_rank(c.content_terms, wanted)::double precision AS of_content,
                CASE WHEN with_titles THEN title_weight * ts_rank(d.title_terms, wanted) ELSE 0 END AS of_title
            FROM matching AS m
            JOIN information_search.document_chunks AS c ON c.id = m.id
            JOIN information_search.documents AS d ON d.id = c.document_id
        )
        SELECT r.id, r.document_id, r.title, r.chunk_content, greatest(r.of_content, r.of_title) AS rank, r.url,
            r.source_type, r.of_content, r.chunk_index
        FROM ranked AS r
        WHERE greatest(r.of_content, r.of_title) >= least_rank
        ORDER BY greatest(r.of_content, r.of_title) DESC, r.of_content DESC, r.document_id, r.chunk_index, r.id
        LIMIT most;
END;
$function$;

CREATE OR REPLACE FUNCTION public.search_documents(
    query_text           text,
    limit_val            integer DEFAULT 10,
    include_title_search boolean DEFAULT true,
    min_rank             double precision DEFAULT 0.01
)
RETURNS TABLE (
    id            uuid,
    document_id   uuid,
    title         text,
    chunk_content text,
    rank          double precision,
    url           text,
    source_type   text
)
LANGUAGE plpgsql
STABLE
SECURITY INVOKER
SET search_path = ''
AS $function$
#variable_conflict use_column
DECLARE
    asked       CONSTANT text := coalesce(search_documents.query_text, '');
    with_titles CONSTANT boolean := coalesce(search_documents.include_title_search, true);
    least_rank  CONSTANT double precision := coalesce(search_documents.min_rank, 0.01);
    most        CONSTANT integer := coalesce(search_documents.limit_val, 10);
    configurations text[];
    all_words   boolean;
BEGIN
    IF numnode(plainto_tsquery('pg_catalog.simple', asked)) = 0 THEN
        RAISE EXCEPTION 'search_documents: query_text has no words to search for'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give at least one letter or digit.';
    END IF;
    IF most < 1 THEN
        RAISE EXCEPTION 'search_documents: limit_val must be at least 1, not %', most
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- The few configurations that are in use, one look into the index each.
    WITH RECURSIVE used AS (
        (SELECT d.configuration AS name FROM information_search.documents AS d ORDER BY d.configuration LIMIT 1)
        UNION ALL
        SELECT (
            SELECT d.configuration FROM information_search.documents AS d
            WHERE d.configuration > used.name ORDER BY d.configuration LIMIT 1
        )
        FROM used
        WHERE used.name IS NOT NULL
    )
    SELECT array_agg(used.name) INTO configurations FROM used WHERE used.name IS NOT NULL;
    -- First all words together; only where that finds nothing, any of them.
    FOREACH all_words IN ARRAY ARRAY[true, false] LOOP
        RETURN QUERY
            SELECT f.id, f.document_id, f.title, f.chunk_content, f.rank, f.url, f.source_type
            FROM unnest(configurations) AS used (name)
            CROSS JOIN LATERAL information_search.best_chunks(
                used.name,
                CASE
                    WHEN all_words THEN plainto_tsquery(used.name::regconfig, asked)
                    ELSE information_search.any_word(used.name, asked)
                END,
                with_titles,
                least_rank,
                most
            ) AS f
            ORDER BY f.rank DESC, f.of_content DESC, f.document_id, f.chunk_index, f.id
            LIMIT most;
        EXIT WHEN FOUND;
    END LOOP;
END;
$function$;
