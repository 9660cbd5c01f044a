"""The pages about the API are what the application is: its description, its routes, its fields, its settings."""

import yaml

from docs import generate_api, generate_fields, generate_openapi, generate_settings
from quotatree.api.problems import PROBLEMS
from quotatree.api.settings import SETTINGS


def test_the_committed_description_is_the_applications():
    assert generate_openapi.FILE.read_text(encoding="utf-8") == generate_openapi.text()
    assert generate_openapi.description()["openapi"].startswith("3.1")


def test_the_page_of_the_api_is_up_to_date():
    assert generate_api.PAGE.read_text(encoding="utf-8") == generate_api.page()


def test_every_route_is_on_the_page():
    page = generate_api.PAGE.read_text(encoding="utf-8")
    routes = generate_api.operations()
    assert [one for one in routes if f"| `{one[0]} {one[1]}` |" not in page] == []
    assert {tag for _, _, operation in routes for tag in operation["tags"]} == set(generate_api.TITLES)


def test_every_problem_that_a_route_may_answer_with_has_a_status_of_the_table():
    told = {status for _, _, operation in generate_api.operations() for status in operation["responses"]}
    known = {str(kind.status) for kind in PROBLEMS.values()} | {"200", "201", "302", "303"}
    assert told <= known


def test_the_page_of_settings_is_up_to_date():
    assert generate_settings.PAGE.read_text(encoding="utf-8") == generate_settings.page()
    assert {setting.key.rpartition(".")[0] for setting in SETTINGS} == set(generate_settings.TITLES)


def test_the_page_of_fields_and_the_schema_of_the_resource_are_up_to_date():
    assert generate_fields.PAGE.read_text(encoding="utf-8") == generate_fields.page()
    for file in (generate_fields.CRD, generate_fields.MANIFESTS):
        text = file.read_text(encoding="utf-8")
        assert text == generate_fields.with_settings(text), "run make pages"


def test_the_manifests_carry_the_definition_of_the_resource_as_it_is():
    definition = yaml.safe_load(generate_fields.CRD.read_text(encoding="utf-8"))
    assert definition in yaml.safe_load_all(generate_fields.MANIFESTS.read_text(encoding="utf-8"))
