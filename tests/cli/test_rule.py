"""`bowerbird rule`: list, switch and bring in rules."""

import json
from pathlib import Path

from tests.cli.libraries import EMAIL, Library

RULE = {
    "name": "Birds",
    "when": "arrives",
    "label_name": None,
    "query": {"q": "bower*"},
    "actions": [{"do": "add_label", "label_name": "birds"}],
    "position": 1,
    "is_on": True,
    "fired": 3,
}


def test_rules_are_brought_in_listed_and_switched(empty: Library, tmp_path: Path) -> None:
    empty.run("account", "create", EMAIL)
    file = tmp_path / "account.json"
    file.write_text(json.dumps({"rules": [RULE, {**RULE, "name": "Off", "is_on": False}]}))

    assert empty.run("rule", "import", EMAIL, str(file)).text == "Added 2 rules.\n"
    listed = json.loads(empty.run("rule", "list", EMAIL, "--json").out)
    assert [(one["name"], one["is_on"], one["fired"]) for one in listed] == [
        ("Birds", True, 0),
        ("Off", False, 0),
    ]
    assert "is off." in empty.run("rule", "off", EMAIL, listed[0]["id"]).text
    assert "is on." in empty.run("rule", "on", EMAIL, listed[1]["id"]).text
    assert empty.value("SELECT count(*) FROM rule WHERE is_on") == 1


def test_a_rule_that_sends_to_a_webhook_of_another_account_waits_for_a_choice(
    empty: Library, tmp_path: Path
) -> None:
    empty.run("account", "create", EMAIL)
    file = tmp_path / "account.json"
    send = {"do": "send_to_webhook", "webhook_id": "5f0c9a7be01d4c3389aa01bc"}
    file.write_text(json.dumps({"rules": [{**RULE, "actions": [send]}, RULE]}))

    assert empty.run("rule", "import", EMAIL, str(file)).text == "Added 2 rules.\n"
    listed = json.loads(empty.run("rule", "list", EMAIL, "--json").out)
    assert [one["is_on"] for one in listed] == [False, True]
    assert "choose the webhook" in listed[0]["notice"]
    assert "there is no webhook" in empty.run("rule", "on", EMAIL, listed[0]["id"]).text


def test_a_file_without_rules_is_refused(empty: Library, tmp_path: Path) -> None:
    empty.run("account", "create", EMAIL)
    for text in ("", "[]", '{"rules": 3}'):
        file = tmp_path / "account.json"
        file.write_text(text)
        refused = empty.run("rule", "import", EMAIL, str(file))
        assert refused.code == 1
        assert "has no rules of an account." in refused.text


def test_an_unknown_rule_is_refused(empty: Library) -> None:
    empty.run("account", "create", EMAIL)
    refused = empty.run("rule", "off", EMAIL, "nothing")
    assert refused.code == 1
    assert "No rule" in refused.text


def test_the_rules_of_a_whole_account_move_to_another(empty: Library, tmp_path: Path) -> None:
    first, whole = tmp_path / "rules.json", tmp_path / "whole.json"
    first.write_text(json.dumps({"rules": [RULE]}))
    for email in (EMAIL, "other@example.com"):
        empty.run("account", "create", email)
    empty.run("rule", "import", EMAIL, str(first))

    assert empty.run("account", "export", EMAIL, str(whole)).code == 0
    moved = empty.run("rule", "import", "other@example.com", str(whole))
    assert moved.text == "Added 1 rule.\n"
    assert empty.value("SELECT count(DISTINCT body) FROM rule") == 1
