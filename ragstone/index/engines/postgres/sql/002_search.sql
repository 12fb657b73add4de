-- Keyword search as one call. It runs with the caller's rights, so that row-level security holds.

-- The words of a text, cleaned of all punctuation, any of which may match: what is searched for where not all words
-- stand together anywhere. A word of three letters or more also finds those that begin with it.
CREATE OR REPLACE FUNCTION information_search.any_word(query_text text)
RETURNS tsquery
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SET search_path = ''
AS $function$
    SELECT to_tsquery(
        'pg_catalog.simple',
        string_agg(CASE WHEN length(word) >= 3 THEN word || ':*' ELSE word END, ' | ' ORDER BY place)
    )
    FROM regexp_split_to_table(lower(query_text), '[[:space:][:punct:][:cntrl:]]+') WITH ORDINALITY AS words (word, place)
    WHERE word <> '';
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
    title_weight CONSTANT double precision := 1.5;
    wanted       tsquery;
    all_words    CONSTANT tsquery := plainto_tsquery('pg_catalog.simple', coalesce(search_documents.query_text, ''));
    with_titles  CONSTANT boolean := coalesce(search_documents.include_title_search, true);
    least_rank   CONSTANT double precision := coalesce(search_documents.min_rank, 0.01);
    most         CONSTANT integer := coalesce(search_documents.limit_val, 10);
BEGIN
    IF numnode(all_words) = 0 THEN
        RAISE EXCEPTION 'search_documents: query_text has no words to search for'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give at least one letter or digit.';
    END IF;
    IF most < 1 THEN
        RAISE EXCEPTION 'search_documents: limit_val must be at least 1, not %', most
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- First all words together; only where that finds nothing, any of them.
    FOREACH wanted IN ARRAY ARRAY[
        all_words,
        information_search.any_word(search_documents.query_text)
    ] LOOP
        CONTINUE WHEN wanted IS NULL OR numnode(wanted) = 0;
        RETURN QUERY
            WITH matching AS (
                SELECT c.id
                FROM information_search.document_chunks AS c
                WHERE c.content_terms @@ wanted
                UNION
                SELECT c.id
                FROM information_search.documents AS d
                JOIN information_search.document_chunks AS c ON c.document_id = d.id
                WHERE with_titles AND d.title_terms @@ wanted
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
                r.source_type
            FROM ranked AS r
            WHERE greatest(r.of_content, r.of_title) >= least_rank
            ORDER BY greatest(r.of_content, r.of_title) DESC, r.of_content DESC, r.document_id, r.chunk_index, r.id
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

    check_name := 'what is stored can be searched';
    SELECT count(*) INTO found_ FROM public.search_documents(test_query);
    passed := true;
    detail := format('%s found for ''%s''', found_, test_query);
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
