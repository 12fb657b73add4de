"""The schema in a database: applied and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.core.errors import EngineError
from ragstone.core.frozen import frozen
from ragstone.index.engines.postgres.script import IS_FORMER, LOCK, SCHEMA, VERSION, body
from ragstone.services.postgres import Server, refused

if TYPE_CHECKING:
    from ragstone.services.postgres import Connection

_INDEXES = (
    "documents_source_type",
    "documents_title_terms",
    "document_chunks_content_terms",
    "document_chunks_document",
)
_SEARCH = "public.search_documents(text,integer,boolean,double precision)"
_TEST = "public.test_search_function(text)"
_INVALID = "22023"


@frozen
class Applied:
    """What `apply` did: the version of the schema, whether this call made it, and how many documents it took over.

    ``former`` is the schema that keeps the tables of the other program; empty if there were none.
    """

    server: str
    version: int
    is_new: bool
    documents: int = 0
    former: str = ""


@frozen
class Looked:
    """One thing that `check` looked at; ``well`` is None where it is only to be known."""

    what: str
    well: bool | None
    detail: str = ""


def apply(server: Server) -> Applied:
    """Make the schema in a database that lacks it, in one transaction.

    Raises:
        EngineError: it cannot be reached, or refuses; then it is as it was.
    """
    with server.transaction(patient=True) as db:
        db.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])  # what is there now stays so until the end
        ((had_others,),) = db.execute(f"SELECT {IS_FORMER}".encode()).fetchall()
        is_new = had_others or _version(db) is None
        db.execute(body().encode())
        if not had_others:
            return Applied(server=server.name, version=VERSION, is_new=is_new)
        ((documents,),) = db.execute(f"SELECT count(*) FROM {SCHEMA}.documents".encode()).fetchall()
    return Applied(server=server.name, version=VERSION, is_new=True, documents=documents, former=f"{SCHEMA}_former")


def check(server: Server) -> list[Looked]:
    """Whether a database has what `apply` makes, and whether it does what it should. Nothing is changed.

    Raises:
        EngineError: it cannot be reached.
    """
    with server.transaction() as db:
        version = _version(db)
        if version is None:
            return [Looked(what="version", well=False, detail="the schema is missing; run: ragstone postgres apply")]
        looked = [Looked(what="version", well=version == VERSION, detail=f"{version}; this Ragstone uses {VERSION}")]
        looked += [_function(db, _SEARCH), _function(db, _TEST), _indexes(db), _security(db), _letters(db)]
    if all(one.well for one in looked[1:3]):
        looked += _tested(server)
    looked.append(_refuses_nothing(server))
    return looked


def _version(db: Connection) -> int | None:
    """Return the version of the schema; None if it is missing, 0 if it has none."""
    names = [f"{SCHEMA}.documents", f"{SCHEMA}.about"]
    match db.execute("SELECT to_regclass(%s), to_regclass(%s)", names).fetchone():
        case (None, _):
            return None
        case (_, None):
            return 0
        case _:
            ((version,),) = db.execute(f"SELECT version FROM {SCHEMA}.about").fetchall()  # pyright: ignore
            return version


def _function(db: Connection, signature: str) -> Looked:
    sql = "SELECT prosecdef, proconfig FROM pg_proc WHERE oid = to_regprocedure(%s)"
    row = db.execute(sql, [signature]).fetchone()
    if row is None:
        return Looked(what=signature, well=False, detail="is not there")
    if row[0]:
        return Looked(what=signature, well=False, detail="runs with its owner's rights, not with its caller's")
    return Looked(what=signature, well=True, detail="runs with its caller's rights")


def _indexes(db: Connection) -> Looked:
    sql = """
        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = to_regnamespace(%s) AND i.indisvalid
    """
    missing = sorted(set(_INDEXES) - {name for (name,) in db.execute(sql, [SCHEMA])})
    detail = f"missing or not valid: {', '.join(missing)}" if missing else f"{len(_INDEXES)} there"
    return Looked(what="indexes", well=not missing, detail=detail)


def _security(db: Connection) -> Looked:
    sql = """
        SELECT count(*) FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid
        WHERE c.relnamespace = to_regnamespace(%s) AND c.relrowsecurity AND p.polname = 'readers'
    """
    row: Any = db.execute(sql, [SCHEMA]).fetchone()
    well = row[0] == 2
    return Looked(what="row-level security", well=well, detail="on for both tables" if well else "is not on")


def _letters(db: Connection) -> Looked:
    """A database of the locale C does not know that Ą is a large ą, and so does not find the one by the other."""
    well = db.execute("SELECT lower('Ą') = 'ą'").fetchone() == (True,)
    detail = "capitals beyond ASCII are known" if well else "capitals beyond ASCII are not known: the locale is C"
    return Looked(what="letters", well=well or None, detail=detail)


def _tested(server: Server) -> list[Looked]:
    """What the self-test says; it takes back what it writes."""
    try:
        with server.transaction() as db:
            checks = db.execute("SELECT check_name, passed, detail FROM public.test_search_function('POLA')").fetchall()
    except EngineError as error:
        return [Looked(what="self-test", well=False, detail=str(error))]
    return [Looked(what=f"self-test: {what}", well=well, detail=detail) for what, well, detail in checks]


def _refuses_nothing(server: Server) -> Looked:
    """An empty question must be an error: an empty result would look like an answer."""
    what = "an empty question"
    try:
        with server.transaction() as db:
            db.execute("SELECT * FROM public.search_documents('')")
    except EngineError as error:
        return Looked(what=what, well=refused(error) == _INVALID, detail=str(error))
    return Looked(what=what, well=False, detail="gives a result, not an error")
