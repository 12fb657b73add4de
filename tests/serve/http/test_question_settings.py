"""The settings that a question may bring."""

from __future__ import annotations

from ragstone.serve.http.question_settings import ALLOWED, QuestionSettings


def test_lists_only_existing_settings() -> None:
    assert {field.alias for field in QuestionSettings.model_fields.values()} == {*ALLOWED}


def test_bounds_every_number() -> None:
    for path, schema in QuestionSettings.model_json_schema()["properties"].items():
        for kind in schema["anyOf"]:
            if kind.get("type") in ("integer", "number"):
                assert kind.keys() & {"minimum", "exclusiveMinimum"}, path
                assert kind.keys() & {"maximum", "exclusiveMaximum"}, path
