-- A word that is in most chunks no longer makes a search rank all of them.

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
