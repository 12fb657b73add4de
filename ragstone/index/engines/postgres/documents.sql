-- Words as a language has them, for each document: by default none has any, and words are compared as written.

-- The name of a text search configuration is kept as text: columns of the type regconfig forbid pg_upgrade. Fill
-- the tables again after a change of a configuration; only this condition makes the function immutable.
CREATE OR REPLACE FUNCTION information_search.terms(configuration text, content text)
RETURNS tsvector
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SET search_path = ''
AS $function$
    SELECT to_tsvector(configuration::regconfig, content);
$function$;

-- Documents and their pieces. Uuid keys, so that rows made on several hosts never meet.
CREATE TABLE information_search.documents (
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    title          text NOT NULL DEFAULT '',
    url            text NOT NULL DEFAULT '',
    source_type    text NOT NULL DEFAULT '',
    readers        text[],                                  -- groups that may read it; NULL: everyone; empty: nobody
    metadata       jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    knowledge_base text NOT NULL DEFAULT '',                -- empty: of no knowledge base
    signature      text NOT NULL DEFAULT '',                -- what the row was made from
    configuration  text NOT NULL DEFAULT 'pg_catalog.simple',
    title_terms    tsvector NOT NULL GENERATED ALWAYS AS (information_search.terms(configuration, title)) STORED
);

CREATE TABLE information_search.document_chunks (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    document_id   uuid NOT NULL REFERENCES information_search.documents ON DELETE CASCADE,
    chunk_index   integer NOT NULL DEFAULT 0,
    chunk_content text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    configuration text NOT NULL DEFAULT 'pg_catalog.simple',
    content_terms tsvector NOT NULL
        GENERATED ALWAYS AS (information_search.terms(configuration, chunk_content)) STORED
);

CREATE INDEX documents_title_terms ON information_search.documents USING gin (title_terms);
CREATE INDEX documents_source_type ON information_search.documents (source_type);
CREATE INDEX documents_configuration ON information_search.documents (configuration);
CREATE INDEX documents_knowledge_base ON information_search.documents (knowledge_base) WHERE knowledge_base <> '';
CREATE INDEX document_chunks_content_terms ON information_search.document_chunks USING gin (content_terms);
CREATE INDEX document_chunks_document ON information_search.document_chunks (document_id, chunk_index);

-- Who may read what, for roles that do not own the tables: the owner, who fills them, sees everything.

-- The groups of whoever asks, a JSON list in the setting ragstone.groups of the session:
--     SELECT set_config('ragstone.groups', '["staff"]', true);
-- A role that may write its own SQL may set it as well. Where such roles ask, put a function in the place of this one
-- that reads what they cannot set, such as the claims of a token that a gateway has checked.
CREATE OR REPLACE FUNCTION information_search.reader_groups()
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = ''
AS $function$
    SELECT coalesce(array_agg(name), '{}')
    FROM jsonb_array_elements_text(coalesce(nullif(current_setting('ragstone.groups', true), ''), '[]')::jsonb) AS name;
$function$;

ALTER TABLE information_search.documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE information_search.document_chunks ENABLE ROW LEVEL SECURITY;

CREATE POLICY readers ON information_search.documents FOR SELECT
    USING (readers IS NULL OR readers && (SELECT information_search.reader_groups()));

-- A chunk can be read by who can read its document: the policy above holds inside this one.
CREATE POLICY readers ON information_search.document_chunks FOR SELECT
    USING (EXISTS (SELECT FROM information_search.documents AS d WHERE d.id = document_id));

-- Keyword search as one call. It runs with the caller's rights, so that row-level security holds.

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

-- The best chunks of the documents of one configuration. At most 20,000 matches by text and as many by title
-- are ranked. Where any of several words may match, each has an equal share, so that chunks with a rare word are ranked
-- however common the others are. Who asks for more chunks than a share gets all of them ranked.
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
SET synchronize_seqscans = off  -- the same matches each time
AS $function$
#variable_conflict use_column
DECLARE
    title_weight CONSTANT double precision := 1.5;
    candidates   CONSTANT integer := 20000;
    alternatives tsquery[];
    share        integer;
BEGIN
    IF wanted IS NULL OR numnode(wanted) = 0 THEN
        RETURN;
    END IF;
    -- Words hold no space: what separates the alternatives of a query as text is nothing else.
    SELECT array_agg(one::tsquery) INTO alternatives FROM regexp_split_to_table(wanted::text, ' \| ') AS split (one);
    share := greatest(most, candidates / cardinality(alternatives));
    RETURN QUERY
        WITH matching AS (
            SELECT found.id
            FROM unnest(alternatives) AS alternative (query)
            CROSS JOIN LATERAL (
                SELECT c.id
                FROM information_search.document_chunks AS c
                WHERE c.content_terms @@ alternative.query AND c.configuration = of_configuration
                LIMIT share
            ) AS found
            UNION
            SELECT found.id
            FROM unnest(alternatives) AS alternative (query)
            CROSS JOIN LATERAL (
                SELECT c.id
                FROM information_search.documents AS d
                JOIN information_search.document_chunks AS c ON c.document_id = d.id
                WHERE with_titles AND d.title_terms @@ alternative.query AND d.configuration = of_configuration
                LIMIT share
            ) AS found
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
    rank          real,
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
            SELECT f.id, f.document_id, f.title, f.chunk_content, f.rank::real, f.url, f.source_type
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

COMMENT ON FUNCTION public.search_documents(text, integer, boolean, double precision) IS
    'Chunks that hold all words of a text, or, where none does, any of them; best first. A title counts 1.5 times.';

-- Tries search_documents on samples that are taken back at once; a caller who may not write tries what can be read.
CREATE OR REPLACE FUNCTION public.test_search_function(test_query text DEFAULT 'POLA')
RETURNS TABLE (check_name text, passed boolean, detail text)
LANGUAGE plpgsql
VOLATILE
SECURITY INVOKER
SET search_path = ''
AS $function$
DECLARE
    -- A word that no other document has keeps what is stored out of the samples.
    mark     CONSTANT text := 'sample' || replace(gen_random_uuid()::text, '-', '');
    in_title uuid;
    in_text  uuid;
    found_   bigint;
    stored   uuid;
    word     text;
    again    bigint;
    differing bigint;
    found_by_text  double precision;
    found_by_title double precision;
    limited  bigint;
    above    bigint;
    without  bigint;
    by_any   bigint;
    problem  text := '';
BEGIN
    check_name := 'an empty query raises';
    BEGIN
        PERFORM * FROM public.search_documents('  ');
        passed := false;
        detail := 'it gave a result';
    EXCEPTION WHEN invalid_parameter_value THEN
        passed := true;
        detail := SQLERRM;
    END;
    RETURN NEXT;

    -- A word of a chunk must lead to that chunk, and the terms of every chunk must be those of its text.
    check_name := 'what is stored is found';
    SELECT count(*) INTO found_ FROM public.search_documents(test_query);
    SELECT c.id, w.word INTO stored, word
    FROM information_search.document_chunks AS c
    CROSS JOIN LATERAL (
        SELECT t.word
        FROM regexp_split_to_table(lower(c.chunk_content), '[[:space:][:punct:][:cntrl:]]+') AS t (word)
        WHERE length(t.word) >= 3 AND numnode(plainto_tsquery(c.configuration::regconfig, t.word)) > 0
        ORDER BY length(t.word) DESC, t.word
        LIMIT 1
    ) AS w
    ORDER BY c.id
    LIMIT 1;
    IF stored IS NULL THEN
        passed := NULL;
        detail := 'not tried: no text is stored';
    ELSE
        SELECT count(*) INTO again FROM public.search_documents(word, 2147483647, false, 0) AS s WHERE s.id = stored;
        SELECT count(*) INTO differing FROM information_search.document_chunks AS c
        WHERE c.content_terms IS DISTINCT FROM information_search.terms(c.configuration, c.chunk_content);
        passed := again = 1 AND differing = 0;
        detail := format(
            '%s found for ''%s''; the chunk of ''%s'' %s; %s chunks have other terms than their text',
            found_, test_query, word, CASE WHEN again = 1 THEN 'is found' ELSE 'is not found' END, differing
        );
    END IF;
    RETURN NEXT;

    BEGIN
        INSERT INTO information_search.documents (title) VALUES (test_query || ' ' || mark) RETURNING id INTO in_title;
        INSERT INTO information_search.documents (title) VALUES ('another') RETURNING id INTO in_text;
        INSERT INTO information_search.document_chunks (document_id, chunk_content)
        VALUES (in_title, 'words of no interest'), (in_text, test_query || ' ' || mark);
        SELECT max(s.rank) FILTER (WHERE s.document_id = in_text),
            max(s.rank) FILTER (WHERE s.document_id = in_title)
        INTO found_by_text, found_by_title
        FROM public.search_documents(test_query || ' ' || mark) AS s;
        SELECT count(*) INTO limited FROM public.search_documents(mark, 1);
        SELECT count(*) INTO above FROM public.search_documents(mark, 10, true, found_by_title * 1.01);
        SELECT count(*) INTO without FROM public.search_documents(mark, 10, false);
        SELECT count(*) INTO by_any FROM public.search_documents(mark || ' & ! (' || mark || 'absent');
        RAISE EXCEPTION 'take the samples back' USING ERRCODE = 'RS001';
    EXCEPTION
        WHEN SQLSTATE 'RS001' THEN
            NULL;
        WHEN insufficient_privilege OR read_only_sql_transaction THEN
            problem := SQLERRM;
    END;

    IF problem <> '' THEN
        check_name := 'samples';
        passed := NULL;
        detail := 'not tried: ' || problem;
        RETURN NEXT;
        RETURN;
    END IF;
    check_name := 'text is found';
    passed := coalesce(found_by_text > 0, false);
    detail := format('rank %s', found_by_text);
    RETURN NEXT;
    check_name := 'a title counts 1.5 times';
    passed := coalesce(abs(found_by_title - 1.5 * found_by_text) < 1e-6, false);
    detail := format('%s against %s', found_by_title, found_by_text);
    RETURN NEXT;
    check_name := 'titles can be left out';
    passed := without = 1;
    detail := format('%s found', without);
    RETURN NEXT;
    check_name := 'limit_val holds';
    passed := limited = 1;
    detail := format('%s found', limited);
    RETURN NEXT;
    check_name := 'min_rank holds';
    passed := above = 0;
    detail := format('%s found above the best', above);
    RETURN NEXT;
    check_name := 'any word is found where not all are';
    passed := by_any = 2;
    detail := format('%s found', by_any);
    RETURN NEXT;
END;
$function$;
