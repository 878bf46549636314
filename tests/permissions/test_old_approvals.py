"""Approvals that an earlier version wrote hold as far as its questions went; the rest is asked again, with the reason.

`data/old_approvals` has the file that `mooring mcp approve --all --yes` of commit 5caed39 wrote for the definitions
beside it, with PROJECT for the folder. The checksum was for the path that was there, so it is left out.
"""

import json
from pathlib import Path

import pytest

from support import Home, run_beside

DATA = Path(__file__).parent / "data/old_approvals"
UNSHOWN = "for more than the question that you answered showed"
STILL_APPROVED = ("plain", "variables", "stored", "address", "secret-client", "program")
ASKED_AGAIN = {
    "credential": f"uses the login work {UNSHOWN}",
    "signed": f"uses the secret bank {UNSHOWN}",
    "identity": f"uses the secret bank {UNSHOWN}",
    "linked": "now loads or reads something different from when it was approved: keys/id leads to HOME/.ssh/id",
}


@pytest.fixture
def old_home(home: Home) -> Home:
    record = json.loads((DATA / "approvals.json").read_text().replace("PROJECT", str(home.project)))
    del record["checksum"]
    path = home.write("home/.local/state/mooring/approvals.json", record)
    path.chmod(0o600)
    path.parent.chmod(0o700)
    home.write("project/.mooring/mcp.json", (DATA / "mcp.json").read_text())
    home.write("project/server", "#!/bin/sh\nexit 0\n").chmod(0o755)
    home.write("home/.ssh/id", "key")
    (home.project / "keys").symlink_to(home.home / ".ssh")
    return home


def test_approvals_of_an_earlier_version_hold_unless_their_question_did_not_show_something(old_home: Home) -> None:
    names = (*STILL_APPROVED, *ASKED_AGAIN)
    questions = run_beside(old_home, "mcp", "approve", *names, "--json", WORD="w").data["waiting"]
    outdated = {question["name"]: question["outdated"] for question in questions}
    assert outdated == {
        **dict.fromkeys(STILL_APPROVED, ""),
        **{name: reason.replace("HOME", str(old_home.home)) for name, reason in ASKED_AGAIN.items()},
    }
    assert all(question["stillApproved"] == (question["name"] in STILL_APPROVED) for question in questions)


@pytest.mark.parametrize(("name", "is_refused"), [("plain", False), ("credential", True), ("linked", True)])
def test_what_is_asked_again_is_not_started_before(old_home: Home, name: str, is_refused: bool) -> None:
    used = run_beside(old_home, "tools", name, WORD="w")
    assert (used.code == 4) == is_refused
    if is_refused:
        assert ASKED_AGAIN[name].replace("HOME", "~") in used.err


def test_a_link_that_leads_nowhere_else_costs_no_approval(old_home: Home) -> None:
    (old_home.project / "keys").unlink()
    old_home.write("project/keys/id", "no key")
    assert run_beside(old_home, "tools", "linked").code != 4
