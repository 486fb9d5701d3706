"""The catalogue of models: names, pins, traits."""

from __future__ import annotations

import re

import pytest

from actors.model.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    SMOL,
    CatalogueEntry,
    ModelTraits,
    entry_named,
    traits_of,
)

SHA256 = re.compile(r"[0-9a-f]{64}")


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
class TestEachModel:
    def test_is_pinned_by_the_hash_of_the_whole_file(self, entry: CatalogueEntry) -> None:
        assert SHA256.fullmatch(entry.sha256)

    def test_names_exact_versions_of_different_wheels(self, entry: CatalogueEntry) -> None:
        requirements = [wheel.requirement for wheel in entry.wheels]
        assert len(set(requirements)) == len(requirements)
        assert all(re.fullmatch(r"[a-z0-9-]+==[\d.]+", each) for each in requirements)

    def test_pins_a_wheel_by_a_hash_or_not_at_all(self, entry: CatalogueEntry) -> None:
        assert all(wheel.sha256 is None or SHA256.fullmatch(wheel.sha256) for wheel in entry.wheels)

    def test_says_licence_packager_and_abilities(self, entry: CatalogueEntry) -> None:
        assert entry.licence
        assert entry.packager
        assert entry.abilities


def test_the_default_model_is_in_the_catalogue_and_chooses_tools() -> None:
    entry = entry_named(DEFAULT_MODEL)
    assert entry is not None
    assert entry.traits.native_tool_calls


def test_no_name_means_the_default_model() -> None:
    assert entry_named("") is entry_named(DEFAULT_MODEL)


def test_the_case_of_a_name_does_not_matter() -> None:
    assert entry_named("SmolLM2-135M-Instruct") is SMOL


def test_another_name_is_in_no_catalogue() -> None:
    assert entry_named("gpt-9") is None


def test_a_model_nobody_knows_is_spoken_to_as_any() -> None:
    assert traits_of("gpt-9") == ModelTraits()


def test_only_a_model_that_chooses_tools_has_the_rules_for_them() -> None:
    for entry in CATALOGUE:
        traits = entry.traits
        assert traits.native_tool_calls == traits.answer_without_tools_after_result
        assert traits.native_tool_calls == traits.repeat_means_answer
