"""Settings: sources, precedence and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from ragstone.core.errors import SettingsError, UsageError
from ragstone.core.installation import install_command
from ragstone.settings import Settings
from ragstone.settings.load import (
    ALIASES,
    KINDS,
    lasting_preset,
    leaves,
    load,
    merge,
    parse_overrides,
    preset_names,
    read_preset,
    written,
)
from ragstone.settings.serve import ServeSettings
from ragstone.settings.substitutes import unused_keys

pytestmark = pytest.mark.usefixtures("workdir")


def write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def refused(match: str, *overrides: str, preset: str | None = None) -> str:
    with pytest.raises(SettingsError, match=match) as raised:
        load(overrides, preset=preset)
    return str(raised.value)


# ---------------------------------------------------------------- profiles


def test_profile_overrides_preset_and_knowledge_base(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "rank: {top_k: 2, pool: 9}\nprofiles: {quick: {rank: {top_k: 3}}}")
    asked = {"preset": "mine.yaml", "remembered": {"rank": {"top_k": 4}}}
    assert load(**asked).settings.rank.top_k == 4
    loaded = load(["profile=quick"], **asked)
    assert (loaded.settings.rank.top_k, loaded.settings.rank.pool) == (3, 9)
    assert loaded.explicit == {"preset": "mine.yaml", "profile": "quick", "rank": {"top_k": 3}}
    assert load(["profile=quick", "rank.top_k=5"], **asked).settings.rank.top_k == 5
    monkeypatch.setenv("RAGSTONE_PROFILE", "quick")
    assert load(**asked).settings.rank.top_k == 3
    assert load(with_profile=False).settings.rank.top_k == Settings().rank.top_k


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ("slow", "mine.yaml has no profile 'slow'; choose one of bad, nested"),
        ("bad", "no setting 'rank.top'.*in profile bad of the preset mine.yaml"),
        ("nested", "profile nested of the preset mine.yaml must not set preset"),
    ],
)
def test_refuses_wrong_profile(profile: str, said: str) -> None:
    write("mine.yaml", "profiles: {bad: {rank: {top: 3}}, nested: {preset: news}}")
    refused(said, f"profile={profile}", preset="mine.yaml")


@pytest.mark.parametrize("name", preset_names())
def test_profiles_of_built_in_presets_are_valid(name: str) -> None:
    for profile in load(preset=name).settings.profiles:
        assert load([f"profile={profile}"], preset=name).settings.profile == profile


# ---------------------------------------------------------------- which source wins


def test_uses_defaults_without_sources() -> None:
    loaded = load()
    assert loaded.settings == Settings()
    assert loaded.explicit == {}


def test_each_source_overrides_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_sources_combine_within_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "chunk: {size: 900, strategy: sentence}")
    monkeypatch.setenv("CHUNK_SIZE", "800")
    chunk = load(["chunk.overlap=10"], preset="mine.yaml").settings.chunk
    assert (chunk.size, chunk.strategy, chunk.overlap) == (800, "sentence", 10)


def test_preset_name_follows_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_explicit_excludes_settings_of_the_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNK_SIZE", "800")
    loaded = load(["query.method=bm25"], preset="knowledge-base")
    assert loaded.explicit == {
        "chunk": {"size": "800"},
        "query": {"method": "bm25"},
        "preset": "knowledge-base",
    }


def test_reads_dotenv_from_given_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".env").write_text("TOP_K=4", encoding="utf-8")
    assert load().settings.rank.top_k == 5
    assert load(folder=elsewhere).settings.rank.top_k == 4


GIVEN = {
    "EMBEDDING_MODEL": "my.package:Embedder",
    "RERANKER_MODEL": "maxsim",
    "TEMPERATURE": "0.7",
    "TOP_P": "0.7",
    "MAX_CONTEXT_TOKENS": "777",
    "OPENAI_BASE_URL": "http://127.0.0.1:77/v1",
    "AZURE_OPENAI_ENDPOINT": "https://one.openai.azure.com",
}
"""Values of aliases that are not numbers."""


@pytest.mark.parametrize("path", ALIASES.values(), ids=ALIASES)
def test_aliases_name_existing_settings(path: str) -> None:
    assert parse_overrides([f"{path}=value"])


@pytest.mark.parametrize("name", ALIASES)
@pytest.mark.parametrize("source", ["environment", ".env"])
def test_alias_sets_its_setting(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GIVEN.get(name, "77")
    if source == ".env":
        write(".env", f"{name}={text}")
    else:
        monkeypatch.setenv(name, text)
    settings = load(["chunk.size=900"] if name == "CHUNK_OVERLAP" else ["chunk.overlap=5"]).settings
    (value,) = (value for path, _, value in leaves(settings) if path == ALIASES[name])
    assert (value.get_secret_value() if isinstance(value, SecretStr) else str(value)) == KINDS.get(name, "") + text


def test_adds_vendor_to_openai_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "text-embedding-ada-002")
    assert load().settings.index.embedder == "openai:text-embedding-ada-002"
    monkeypatch.setenv("AZURE_EMBEDDING_DEPLOYMENT", "mine")
    assert load().settings.index.embedder == "azure:mine"


@pytest.mark.parametrize(
    ("name", "path", "meant"),
    [
        ("EMBEDDING_MODEL", "index.embedder", "sentence-transformers:intfloat/multilingual-e5-large"),
        ("RERANKER_MODEL", "rank.reranker", "cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2"),
    ],
)
def test_takes_names_of_the_hub(name: str, path: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, meant.partition(":")[2])
    assert {path: value for path, _, value in leaves(load().settings)}[path] == meant


@pytest.mark.parametrize("named", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_packaged_model_has_its_name_of_the_hub(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", named)
    assert load().settings.index.embedder == "minilm"


@pytest.mark.parametrize("in_file", ["AZURE_OPENAI_DEPLOYMENT=answers", "LLM_MODEL=gpt-4o-mini"])
def test_calls_the_deployment_not_its_model(in_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"AZURE_OPENAI_DEPLOYMENT": "answers", "LLM_MODEL": "gpt-4o-mini"}
    given |= {"AZURE_EMBEDDING_DEPLOYMENT": "vectors", "EMBEDDING_MODEL": "text-embedding-3-small"}
    write(".env", in_file)
    for name, text in given.items():
        if not in_file.startswith(name):
            monkeypatch.setenv(name, text)
    settings = load().settings
    assert (settings.respond.model.name, settings.index.embedder) == ("azure:answers", "azure:vectors")
    assert settings.services.model_behind("azure:answers") == "openai:gpt-4o-mini"
    assert settings.services.model_behind("azure:vectors") == "openai:text-embedding-3-small"
    assert settings.services.model_behind("azure:gpt-4o") == "azure:gpt-4o"


def test_model_of_another_service_is_no_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_DEPLOYMENT", "answers")
    monkeypatch.setenv("LLM_MODEL", "ollama:llama3.2")
    settings = load().settings
    assert (settings.respond.model.name, settings.services.azure.models) == ("ollama:llama3.2", {})


@pytest.mark.parametrize("name", preset_names())
def test_built_in_presets_are_valid(name: str) -> None:
    assert load(preset=name).settings.preset == name


# ---------------------------------------------------------------- values


def test_converts_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_QUERY__ADAPT", "no")
    settings = load(["chunk.size=0600", "query.vector_weight=1e-1", "acquire.columns.url=no"]).settings
    assert settings.query.adapt is False
    assert settings.chunk.size == 600  # and not 384, which YAML makes of it
    assert settings.query.vector_weight == 0.1
    assert settings.acquire.columns.url == "no"  # and not False


@pytest.mark.parametrize("text", ['["name", "subtitle"]', "[name, subtitle]"])
def test_reads_lists_as_json_or_yaml(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load([f"acquire.columns.title={text}"]).settings.acquire.columns.title == ("name", "subtitle")
    monkeypatch.setenv("RAGSTONE_ACQUIRE__COLUMNS__TITLE", text)
    assert load().settings.acquire.columns.title == ("name", "subtitle")


def test_single_setting_overrides_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CHUNK", '{"size": 700, "overlap": 7}')
    monkeypatch.setenv("RAGSTONE_CHUNK__SIZE", "800")
    chunk = load().settings.chunk
    assert (chunk.size, chunk.overlap) == (800, 7)


def test_reads_named_sites_from_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_refuses_site_without_start_or_valid_name() -> None:
    refused(r"acquire\.sites\.docs\.start: ", "acquire.sites.docs.max_pages=3")
    refused(r"acquire\.sites\.\.\./up", "acquire.sites={../up: {start: 'https://a.example/'}}")
    refused(r"acquire\.sites: ", "acquire.sites=docs")


def test_ignores_empty_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOP_K", "")
    monkeypatch.setenv("RAGSTONE_CHUNK__SIZE", "")
    write(".env", "RAGSTONE_RANK__POOL=\nRAGSTONE_RANK__RERANKER")
    assert load().settings == Settings()


def test_variable_names_ignore_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ragstone_chunk__size", "700")
    assert load().settings.chunk.size == 700


def test_every_setting_has_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = {"acquire.access.folders": "[hr = one]", "serve.oidc.scopes": "[openid, one]"}
    for path, info, value in leaves(Settings()):
        text = "[one, two]" if info.annotation == tuple[str, ...] else json.dumps(value, default=str).strip('"')
        monkeypatch.setenv(f"RAGSTONE_{path.upper().replace('.', '__')}", checked.get(path, text))
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


@pytest.mark.parametrize(("path", "name", "text"), UNKNOWN, ids=[path for path, _, _ in UNKNOWN])
def test_refuses_unknown_keys_from_every_source(
    path: str, name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = refused("there is no setting", f"{path}=1")
    assert f"'{path}'" in told
    assert "(" not in told

    write("mine.yaml", text)
    assert "in preset mine.yaml" in refused("there is no setting", preset="mine.yaml")

    write(".env", f"{name}=1")
    assert f"from {name} in .env" in refused("there is no setting")
    Path(".env").unlink()

    monkeypatch.setenv(name, "1")
    assert f"from {name} in the environment" in refused("there is no setting")


def test_refuses_unknown_keys_in_a_json_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CHUNK", '{"sise": 700}')
    assert "from RAGSTONE_CHUNK in the environment" in refused("'chunk.sise'")


def test_refuses_unknown_keys_of_a_knowledge_base() -> None:
    with pytest.raises(SettingsError, match=r"there is no setting 'chunk\.foo'"):
        load(remembered={"chunk": {"foo": 1}})


def test_tolerates_variables_of_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".env", "REDIS_URL=x\nOPENAI_ORG_ID=y\nRAGSTONE_TEST_DATA=z\nchunk={}")
    monkeypatch.setenv("RAGSTONE_TEST_DATA", "z")
    monkeypatch.setenv("PRESET", "nowhere")
    assert load().settings == Settings()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("chunk.sise", "chunk.size"),
        ("chunks.size", "chunk.size"),
        ("chunk_size", "chunk.size"),
        ("retreiver", None),
        ("respnd", "respond"),
        ("rank.topk", "rank.top_k"),
    ],
)
def test_suggests_the_nearest_name(typed: str, meant: str | None) -> None:
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
        ("acquire.columns.title=[name", "acquire.columns.title: this is not a list"),
        ("acquire.columns.title=[2020-13-45]", "acquire.columns.title: this is not a list"),
        ("chunk.size", "write it as path=value"),
        ("=600", "write it as path=value"),
    ],
)
def test_refuses_malformed_value(override: str, said: str) -> None:
    refused(said, override)


def test_names_the_malformed_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_ACQUIRE__COLUMNS__TITLE", '["name"')
    refused("RAGSTONE_ACQUIRE__COLUMNS__TITLE in the environment")


@pytest.mark.parametrize("overlap", [600, 601])
def test_refuses_overlap_as_large_as_the_chunk(overlap: int) -> None:
    refused(rf"overlap \({overlap}\) must be smaller than size \(600\)", "chunk.size=600", f"chunk.overlap={overlap}")


def test_reports_all_problems_at_once() -> None:
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
        ("preset: knowledge-base", "names another preset"),
        ("chunk: !!python/object/apply:os.getcwd []", "could not be read as YAML"),
    ],
)
def test_refuses_malformed_preset(content: str, said: str) -> None:
    write("mine.yaml", content)
    refused(said, preset="mine.yaml")


def test_translates_the_settings_of_another_system() -> None:
    Path("base.yaml").write_text(
        "embedding: {model_name: all-MiniLM-L6-v2, dimension: 384}\nchunking: {max_tokens: 512, overlap: 50}\n"
        "retrieval: {top_k: 5, similarity_threshold: 0.6}\nllm: {model: gpt-4}\n"
    )
    with pytest.raises(SettingsError) as caught:
        load(preset="base.yaml")
    assert (
        "Write index.embedder for embedding.model_name, chunk.size for chunking.max_tokens, chunk.overlap for"
        " chunking.overlap, rank.top_k for retrieval.top_k, query.threshold for retrieval.similarity_threshold,"
        " respond.model.name for llm.model; nothing corresponds to embedding.dimension."
    ) in str(caught.value)
    Path("base.yaml").write_text("chunkk: {size: 5}\n")
    with pytest.raises(SettingsError, match="did you mean chunk"):
        load(preset="base.yaml")


def test_refuses_preset_that_is_not_utf8() -> None:
    Path("mine.yaml").write_bytes(b"chunk: {size: \xff}")
    refused("could not be read as YAML", preset="mine.yaml")


def test_refuses_dotenv_that_is_not_utf8() -> None:
    Path(".env").write_bytes(b"TOP_K=\xff")
    refused(r"\.env could not be read")


@pytest.mark.parametrize("name", ["nowhere", "nowhere.yaml", ".", "", "../presets/knowledge-base", "__init__.py"])
def test_unknown_preset_lists_known_ones(name: str) -> None:
    with pytest.raises(SettingsError, match=r"choose one of default, .*knowledge-base"):
        read_preset(name)


def test_empty_preset_has_no_settings() -> None:
    write("mine.yaml", "# nothing yet\n")
    assert read_preset("mine.yaml") == {}
    assert read_preset("default") == {}


def test_settings_error_is_a_usage_error() -> None:
    assert issubclass(SettingsError, UsageError)


@pytest.mark.parametrize("waits", ["[2, 1]", "[1]", "[-1, 1]"])
def test_refuses_impossible_backoff(waits: str) -> None:
    refused(r"services\.backoff_seconds", f"services.backoff_seconds={waits}")


# ---------------------------------------------------------------- .env


def test_reads_dotenv_syntax() -> None:
    lines = ("\ufeffexport TOP_K='4' # comment", "SIZE=700", "RAGSTONE_CHUNK__SIZE=${SIZE}", "RERANK_TOP_K=${NONE:-9}")
    write(".env", "\n".join(lines))
    settings = load().settings
    assert (settings.rank.top_k, settings.chunk.size, settings.rank.pool) == (4, 700, 9)


# ---------------------------------------------------------------- services

KEYS = {"OPENAI_API_KEY": "sk-canary", "AZURE_OPENAI_API_KEY": "canary", "EXA_API_KEY": "canary"}


def test_key_alone_selects_no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    settings = load().settings
    assert (settings.respond.model.name, settings.index.embedder) == ("extractive", "auto")
    assert (settings.query.web.engine, settings.review.judge) == ("none", "off")
    notice = unused_keys(settings)
    assert notice.startswith("OPENAI_API_KEY, AZURE_OPENAI_API_KEY, EXA_API_KEY are set but not used")
    assert "canary" not in notice


@pytest.mark.parametrize(
    "named",
    ["respond.model.name=openai:a", "respond.model.name=a", "index.embedder=openai:a", "review.judge_model=openai:a"],
)
def test_named_model_uses_the_key(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    assert "OPENAI_API_KEY is set but not used" in unused_keys(load().settings)
    assert unused_keys(load([named]).settings) == ""


def test_preset_uses_the_service_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="needs openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    settings = load(preset="knowledge-base").settings
    assert settings.index.embedder == "openai:text-embedding-ada-002"
    assert settings.respond.model.name == "openai:gpt-5.4-mini"
    monkeypatch.setenv("RAGSTONE_PRESET", "companion")
    loaded = load()
    assert loaded.settings.respond.model.name == "extractive", "a key of OpenAI is not a key of Azure"
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "canary")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://one.openai.azure.com")
    assert load().settings.respond.model.name == "azure:gpt-4o-mini"
    monkeypatch.setenv("AZURE_OPENAI_DEPLOYMENT", "mine")
    assert load().settings.respond.model.name == "azure:mine"


def test_preset_without_a_key_uses_embedded_models() -> None:
    loaded = load(["index.vectors=embedded"], preset="knowledge-base")
    assert (loaded.settings.index.embedder, loaded.settings.respond.model.name) == ("auto", "extractive")
    assert [(one.path, one.wanted) for one in loaded.substitutes] == [
        ("index.embedder", "openai:text-embedding-ada-002"),
        ("respond.model.name", "openai:gpt-5.4-mini"),
    ]
    assert all("there is no key" in one.told for one in loaded.substitutes)
    assert all("set services.openai.api_key" in one.told for one in loaded.substitutes)


def test_preset_without_the_extra_uses_embedded_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setattr("ragstone.settings.substitutes.find_spec", lambda _: None)
    loaded = load(preset="knowledge-base")
    assert loaded.settings.respond.model.name == "extractive"
    assert "openai is not installed" in loaded.substitutes[-1].told
    assert install_command("openai") in loaded.substitutes[-1].told


def test_never_substitutes_what_the_user_names() -> None:
    built = {"index": {"embedder": "openai:b"}}
    loaded = load(["respond.model.name=openai:a"], preset="knowledge-base", remembered=built)
    assert (loaded.settings.index.embedder, loaded.settings.respond.model.name) == ("openai:b", "openai:a")


# ---------------------------------------------------------------- trees


def test_merge_does_not_change_its_arguments() -> None:
    under, over = {"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}
    assert merge(under, over) == {"a": {"b": 3, "c": 2}}
    assert (under, over) == ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})


def test_overrides_of_a_section_combine() -> None:
    assert parse_overrides(["chunk.size=600", "chunk.overlap=10"]) == {"chunk": {"size": "600", "overlap": "10"}}


def test_preset_file_works_from_every_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.yaml", "rank: {top_k: 2}")
    lasting = lasting_preset("mine.yaml")
    monkeypatch.chdir("/")
    assert load(remembered={"preset": lasting}).settings.rank.top_k == 2
    Path(lasting).unlink()
    with pytest.raises(SettingsError, match="the knowledge base was created with this preset"):
        load(remembered={"preset": lasting})
    assert [lasting_preset(name) for name in ("default", "news")] == ["default", "news"]


@pytest.mark.usefixtures("workdir")
def test_mapping_is_one_leaf() -> None:
    settings = load(["acquire.metadata.topics={rooms: [room, hall]}"]).settings
    found = {path: written(value) for path, _, value in leaves(settings)}
    assert found["acquire.metadata.topics"] == "{rooms: [room, hall]}"


@pytest.mark.parametrize("url", ["https://ann:secret@mill.example", "https://mill.example/?key=1", "mill.example"])
def test_the_address_of_the_server_holds_no_secret(url: str) -> None:
    with pytest.raises(ValueError, match=r"this is not an address|must have no user, password, query or fragment"):
        ServeSettings(url=url)
    assert ServeSettings(url="https://mill.example/desk/").url == "https://mill.example/desk"
