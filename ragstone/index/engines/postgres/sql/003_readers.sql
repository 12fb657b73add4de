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
