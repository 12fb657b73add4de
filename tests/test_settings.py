"""Settings: where they come from, which source wins, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from ragstone.config import (
    ALIASES,
    KINDS,
    environment_name,
    lasting_preset,
    leaves,
    load,
    merge,
    parse_overrides,
    preset_names,
    read_preset,
    written,
)
from ragstone.errors import SettingsError, UsageError
from ragstone.sections import Settings

pytestmark = pytest.mark.usefixtures("workdir")


def write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def refused(match: str, *overrides: str, preset: str | None = None) -> str:
    with pytest.raises(SettingsError, match=match) as raised:
        load(overrides, preset=preset)
    return str(raised.value)


# ---------------------------------------------------------------- which source wins


def test_defaults_where_no_source_says_anything() -> None:
    loaded = load()
    assert loaded.settings == Settings()
    assert loaded.explicit == {}


def test_each_source_wins_over_the_one_below(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "rank: {top_k: 2}")
    assert load(preset="mine.yaml").settings.rank.top_k == 2

    assert load(preset="mine.yaml", remembered={"rank": {"top_k": 3}}).settings.rank.top_k == 3

    write(".env", "TOP_K=4")
    assert load(preset="mine.yaml", remembered={"rank": {"top_k": 3}}).settings.rank.top_k == 4

    write(".env", "TOP_K=4\nRAGSTONE_RANK__TOP_K=5")
    assert load(preset="mine.yaml").settings.rank.top_k == 5

    monkeypatch.setenv("TOP_K", "6")
    assert load(preset="mine.yaml").settings.rank.top_k == 6

    monkeypatch.setenv("RAGSTONE_RANK__TOP_K", "7")
    assert load(preset="mine.yaml").settings.rank.top_k == 7

    assert load(["rank.top_k=8"], preset="mine.yaml").settings.rank.top_k == 8
    assert load(["rank.top_k=8", "rank.top_k=9"], preset="mine.yaml").settings.rank.top_k == 9


def test_a_source_leaves_the_settings_it_does_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "chunk: {size: 900, strategy: sentence}")
    monkeypatch.setenv("CHUNK_SIZE", "800")
    chunk = load(["chunk.overlap=10"], preset="mine.yaml").settings.chunk
    assert (chunk.size, chunk.strategy, chunk.overlap) == (800, "sentence", 10)


def test_the_preset_itself_follows_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcd":
        write(f"{name}.yaml", f"index: {{embedder: 'of:{name}'}}")
    assert load(remembered={"preset": "a.yaml"}).settings.index.embedder == "of:a"
    write(".env", "RAGSTONE_PRESET=b.yaml")
    assert load(remembered={"preset": "a.yaml"}).settings.index.embedder == "of:b"
    monkeypatch.setenv("RAGSTONE_PRESET", "c.yaml")
    assert load().settings.index.embedder == "of:c"
    loaded = load(preset="d.yaml")
    assert loaded.settings.index.embedder == "of:d"
    assert loaded.settings.preset == "d.yaml"


def test_explicit_is_what_was_asked_for_and_not_what_the_preset_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNK_SIZE", "800")
    loaded = load(["query.method=bm25"], preset="knowledge-base")
    assert loaded.explicit == {
        "chunk": {"size": "800"},
        "query": {"method": "bm25"},
        "preset": "knowledge-base",
    }


def test_dotenv_is_read_from_the_folder_given(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".env").write_text("TOP_K=4", encoding="utf-8")
    assert load().settings.rank.top_k == 5
    assert load(folder=elsewhere).settings.rank.top_k == 4


GIVEN = {
    "EMBEDDING_MODEL": "my.package:Embedder",
    "TEMPERATURE": "0.7",
    "MAX_CONTEXT_TOKENS": "777",
    "OPENAI_BASE_URL": "http://127.0.0.1:77/v1",
    "AZURE_OPENAI_ENDPOINT": "https://one.openai.azure.com",
}
"""What aliases are given where it cannot be a number."""


@pytest.mark.parametrize("path", ALIASES.values(), ids=ALIASES)
def test_aliases_stand_for_settings_that_exist(path: str) -> None:
    assert path in [known for known, _, _ in leaves(Settings())]


@pytest.mark.parametrize("name", ALIASES)
@pytest.mark.parametrize("source", ["environment", ".env"])
def test_aliases_work(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GIVEN.get(name, "77")
    if source == ".env":
        write(".env", f"{name}={text}")
    else:
        monkeypatch.setenv(name, text)
    settings = load(["chunk.size=900"] if name == "CHUNK_OVERLAP" else ["chunk.overlap=5"]).settings
    (value,) = (value for path, _, value in leaves(settings) if path == ALIASES[name])
    assert (value.get_secret_value() if isinstance(value, SecretStr) else str(value)) == KINDS.get(name, "") + text


def test_a_model_of_openai_needs_no_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "text-embedding-ada-002")
    assert load().settings.index.embedder == "openai:text-embedding-ada-002"
    monkeypatch.setenv("AZURE_EMBEDDING_DEPLOYMENT", "mine")
    assert load().settings.index.embedder == "azure:mine"


@pytest.mark.parametrize("name", preset_names())
def test_shipped_presets_are_valid(name: str) -> None:
    assert load(preset=name).settings.preset == name


# ---------------------------------------------------------------- values


def test_values_are_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_QUERY__ADAPT", "no")
    settings = load(["chunk.size=0600", "query.vector_weight=1e-1", "acquire.columns.url=no"]).settings
    assert settings.query.adapt is False
    assert settings.chunk.size == 600  # and not 384, which YAML makes of it
    assert settings.query.vector_weight == 0.1
    assert settings.acquire.columns.url == "no"  # and not False


@pytest.mark.parametrize("text", ['["name", "subtitle"]', "[name, subtitle]"])
def test_lists_come_as_json_or_yaml(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load([f"acquire.columns.title={text}"]).settings.acquire.columns.title == ("name", "subtitle")
    monkeypatch.setenv("RAGSTONE_ACQUIRE__COLUMNS__TITLE", text)
    assert load().settings.acquire.columns.title == ("name", "subtitle")


def test_a_whole_section_may_be_given_and_a_single_setting_wins_over_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CHUNK", '{"size": 700, "overlap": 7}')
    monkeypatch.setenv("RAGSTONE_CHUNK__SIZE", "800")
    chunk = load().settings.chunk
    assert (chunk.size, chunk.overlap) == (800, 7)


def test_sites_are_named_by_the_user_and_come_from_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "acquire: {sites: {docs: {start: 'https://a.example/docs/', max_pages: 7}}}")
    monkeypatch.setenv("RAGSTONE_ACQUIRE__SITES__DOCS__USER_AGENT", "[me]")
    settings = load(["acquire.sites.other-site.start=https://b.example/"], preset="mine.yaml").settings
    docs = settings.acquire.sites["docs"]
    assert (docs.start, docs.max_pages, docs.user_agent) == ("https://a.example/docs/", 7, "[me]")
    assert settings.acquire.sites["other-site"].start == "https://b.example/"
    shown = {path: value for path, _, value in leaves(settings) if path.startswith("acquire.sites")}
    assert shown == {
        "acquire.sites.docs.start": "https://a.example/docs/",
        "acquire.sites.docs.max_pages": 7,
        "acquire.sites.docs.user_agent": "[me]",
        "acquire.sites.other-site.start": "https://b.example/",
    }


def test_a_site_needs_a_start_and_a_plain_name() -> None:
    refused(r"acquire\.sites\.docs\.start: ", "acquire.sites.docs.max_pages=3")
    refused(r"acquire\.sites\.\.\./up", "acquire.sites={../up: {start: 'https://a.example/'}}")
    refused(r"acquire\.sites: ", "acquire.sites=docs")


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOP_K", "")
    monkeypatch.setenv("RAGSTONE_CHUNK__SIZE", "")
    write(".env", "RAGSTONE_RANK__POOL=\nRAGSTONE_RANK__RERANKER")
    assert load().settings == Settings()


def test_names_in_the_environment_are_read_without_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ragstone_chunk__size", "700")
    assert load().settings.chunk.size == 700


def test_the_environment_name_of_every_setting_works(monkeypatch: pytest.MonkeyPatch) -> None:
    known = list(leaves(Settings()))
    for path, info, value in known:
        text = "[one, two]" if info.annotation == tuple[str, ...] else json.dumps(value, default=str).strip('"')
        monkeypatch.setenv(environment_name(path), "[hr = one]" if path == "acquire.access.folders" else text)
    settings = load().settings
    assert settings.acquire.columns.text == ("one", "two")
    assert settings.acquire.access.folders == ("hr = one",)
    assert settings.chunk == Settings().chunk


# ---------------------------------------------------------------- what is refused


UNKNOWN = [
    ("foo", "RAGSTONE_FOO", "{foo: 1}"),
    ("chunk.foo", "RAGSTONE_CHUNK__FOO", "{chunk: {foo: 1}}"),
    ("acquire.columns.foo", "RAGSTONE_ACQUIRE__COLUMNS__FOO", "{acquire: {columns: {foo: 1}}}"),
    ("acquire.sites.docs.foo", "RAGSTONE_ACQUIRE__SITES__DOCS__FOO", "{acquire: {sites: {docs: {foo: 1}}}}"),
    ("foo.bar", "RAGSTONE_FOO__BAR", "{foo: {bar: 1}}"),
    # Names that a settings library may take for itself.
    ("_env_file", "RAGSTONE__ENV_FILE", "{_env_file: x}"),
    ("model_config", "RAGSTONE_MODEL_CONFIG", "{model_config: {extra: allow}}"),
]


@pytest.mark.parametrize(("path", "name", "yaml"), UNKNOWN, ids=[path for path, _, _ in UNKNOWN])
def test_unknown_keys_are_refused_from_every_source(
    path: str, name: str, yaml: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "on the command line" in refused("there is no setting", f"{path}=1")

    write("mine.yaml", yaml)
    assert "in preset mine.yaml" in refused("there is no setting", preset="mine.yaml")

    write(".env", f"{name}=1")
    assert f"from {name} in .env" in refused("there is no setting")
    Path(".env").unlink()

    monkeypatch.setenv(name, "1")
    assert f"from {name} in the environment" in refused("there is no setting")


def test_unknown_keys_inside_a_json_section_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CHUNK", '{"sise": 700}')
    assert "from RAGSTONE_CHUNK in the environment" in refused("'chunk.sise'")


def test_unknown_keys_that_a_knowledge_base_remembers_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"there is no setting 'chunk\.foo'"):
        load(remembered={"chunk": {"foo": 1}})


def test_other_programs_may_keep_their_names_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".env", "REDIS_URL=x\nOPENAI_ORG_ID=y\nRAGSTONE_TEST_DATA=z\nchunk={}")
    monkeypatch.setenv("RAGSTONE_TEST_DATA", "z")
    monkeypatch.setenv("PRESET", "nowhere")
    assert load().settings == Settings()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("chunk.sise", "chunk.size"),
        ("chunks.size", "chunk"),
        ("chunk_size", "chunk.size"),
        ("retreiver", None),
        ("respnd", "respond"),
        ("rank.topk", "rank.top_k"),
    ],
)
def test_a_misspelt_name_is_told_what_was_meant(typed: str, meant: str | None) -> None:
    message = refused("there is no setting", f"{typed}=1")
    assert ("did you mean" in message) == (meant is not None)
    assert meant is None or f"did you mean {meant}?" in message


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("chunk.size=abc", "chunk.size: "),
        ("chunk.size=", "chunk.size: "),
        ("chunk.size=600.5", "chunk.size: "),
        ("chunk.size=19", "chunk.size: "),
        ("chunk.strategy=words", "chunk.strategy: .*'sentence'"),
        ("query.vector_weight=1.1", "query.vector_weight: "),
        ("query.vector_weight=nan", "query.vector_weight: "),
        ("index.k1=inf", "index.k1: "),
        ("query.adapt=perhaps", "query.adapt: "),
        ("chunk=600", "chunk is a section"),
        ("acquire.columns.title=name", r"acquire.columns.title is a list; write it as \[one, two\]"),
        ("acquire.columns.title=[name", "acquire.columns.title: not a list"),
        ("acquire.columns.title=[2020-13-45]", "acquire.columns.title: not a list"),
        ("chunk.size", "write it as path=value"),
        ("=600", "write it as path=value"),
    ],
)
def test_a_malformed_value_is_refused_and_named(override: str, said: str) -> None:
    refused(said, override)


def test_a_malformed_value_of_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_ACQUIRE__COLUMNS__TITLE", '["name"')
    refused("RAGSTONE_ACQUIRE__COLUMNS__TITLE in the environment")


@pytest.mark.parametrize("overlap", [600, 601])
def test_the_overlap_must_be_smaller_than_the_chunk(overlap: int) -> None:
    refused(rf"overlap \({overlap}\) must be smaller than size \(600\)", "chunk.size=600", f"chunk.overlap={overlap}")


def test_all_problems_are_told_at_once() -> None:
    message = refused("chunk.size", "chunk.size=0", "rank.top_k=0")
    assert "rank.top_k" in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("chunk: [1, 2", "could not be read as YAML"),
        ("chunk: {size: 2020-13-45}", "could not be read as YAML"),
        ("- chunk", "must be a mapping"),
        ("600", "must be a mapping"),
        ("1: 2", "there is no setting '1'"),
        ("chunk: {1: 2}", "there is no setting 'chunk.1'"),
        ("chunk:", "chunk is a section"),
        ("chunk: 600", "chunk is a section"),
        ("preset: knowledge-base", "names a preset itself"),
        ("chunk: !!python/object/apply:os.getcwd []", "could not be read as YAML"),
    ],
)
def test_a_malformed_preset_is_refused(content: str, said: str) -> None:
    write("mine.yaml", content)
    refused(said, preset="mine.yaml")


def test_a_preset_of_other_bytes_than_utf8_is_refused() -> None:
    Path("mine.yaml").write_bytes(b"chunk: {size: \xff}")
    refused("could not be read as YAML", preset="mine.yaml")


def test_a_dotenv_of_other_bytes_than_utf8_is_refused() -> None:
    Path(".env").write_bytes(b"TOP_K=\xff")
    refused(r"\.env could not be read")


@pytest.mark.parametrize("name", ["nowhere", "nowhere.yaml", ".", "", "../presets/knowledge-base", "__init__.py"])
def test_an_unknown_preset_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(SettingsError, match=r"there are default, .*knowledge-base"):
        read_preset(name)


def test_an_empty_preset_makes_no_settings() -> None:
    write("mine.yaml", "# nothing yet\n")
    assert read_preset("mine.yaml") == {}
    assert read_preset("default") == {}


def test_settings_errors_are_errors_of_use() -> None:
    assert issubclass(SettingsError, UsageError)


# ---------------------------------------------------------------- trees


def test_merge_leaves_its_arguments_alone() -> None:
    under, over = {"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}
    assert merge(under, over) == {"a": {"b": 3, "c": 2}}
    assert (under, over) == ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})


def test_overrides_of_one_section_come_together() -> None:
    assert parse_overrides(["chunk.size=600", "chunk.overlap=10"]) == {"chunk": {"size": "600", "overlap": "10"}}


def test_a_preset_of_ones_own_is_known_from_every_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "rank: {top_k: 2}")
    lasting = lasting_preset("mine.yaml")
    monkeypatch.chdir("/")
    assert load(remembered={"preset": lasting}).settings.rank.top_k == 2
    Path(lasting).unlink()
    with pytest.raises(SettingsError, match="the knowledge base was made with it"):
        load(remembered={"preset": lasting})
    assert [lasting_preset(name) for name in ("default", "news")] == ["default", "news"]


@pytest.mark.usefixtures("workdir")
def test_a_setting_of_names_and_lists_is_one_leaf() -> None:
    settings = load(["acquire.metadata.topics={rooms: [room, hall]}"]).settings
    found = {path: written(value) for path, _, value in leaves(settings)}
    assert found["acquire.metadata.topics"] == "{rooms: [room, hall]}"
