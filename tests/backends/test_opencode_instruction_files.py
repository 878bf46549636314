"""Which instruction files OpenCode is told to read, without the program itself."""

from mooring.backends.opencode.config import find_instruction_files
from support import Home


def test_a_link_that_leads_out_of_the_project_is_not_given_to_opencode(home: Home) -> None:
    secret = home.write("home/.aws/credentials", "canary")
    home.write("project/shared.md", "inside")
    inner, sub = home.project / "AGENTS.md", home.project / "sub"
    inner.symlink_to("shared.md")
    sub.mkdir()
    (sub / "AGENTS.md").symlink_to(secret)
    assert find_instruction_files(home.where, str(sub)) == [str(inner)]
    # With nothing left of one name, the next one is looked for, as OpenCode does.
    inner.unlink()
    own = home.write("project/CLAUDE.md", "own")
    assert find_instruction_files(home.where, str(sub)) == [str(own)]
