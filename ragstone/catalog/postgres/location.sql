-- A knowledge base whose catalog is in PostgreSQL: which version is in use, and who changes it. Format version 1.

CREATE TABLE home (
    one      integer PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    format   integer NOT NULL,
    identity text NOT NULL            -- drawn when it was made: folders know by it what they follow
);

CREATE SEQUENCE version_numbers;
CREATE TABLE versions (
    version integer PRIMARY KEY       -- its catalog is in the schema of this name with _v and the number
);

CREATE TABLE pointers (
    pointer text PRIMARY KEY,         -- CURRENT, NEXT, PREVIOUS
    version integer NOT NULL REFERENCES versions
);

-- Whether somebody holds a lock, only advisory locks of the server tell. Here is who had it last; and how often it was
-- taken, by which a holder that has lost it is told from the next one.
CREATE TABLE locks (
    lock   text PRIMARY KEY,
    taken  bigint NOT NULL,
    holder text NOT NULL
);
INSERT INTO locks VALUES ('index', 0, ''), ('rebuild', 0, '');
