"""Searching tools: the right one is among the first, in people's own words, spelling and language."""

import json

import pytest
from bench.search import Figures, judge, load_requests, load_tools
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from mooring.core.protocol.tool import Pair, Tool
from mooring.tools.search.index import Index

FLOORS = {"keywords": 95, "sentences": 95, "paraphrases": 80, "typos": 95}
"""What is reached, in percent, of the requests that were held back: no change may lose it."""


def tool(name: str, description: str = "", *parameters: str) -> Tool:
    schema = {"type": "object", "properties": {parameter: {"type": "string"} for parameter in parameters}}
    return Tool(name=name, description=description, input_schema=Raw(json.dumps(schema).encode()))


SMALL: dict[Pair, Tool] = {
    ("github", "create_pull_request"): tool("create_pull_request", "Create a new pull request", "title", "branch"),
    ("github", "list_issues"): tool("list_issues", "List issues in a repository"),
    ("github", "create_issue"): tool("create_issue", "Create a new issue in a repository"),
    ("shop", "deleteOrder"): tool("deleteOrder", "Delete an order", "order_id"),
    ("shop", "getOrder"): tool("getOrder", "Get an order", "order_id"),
    ("files", "read_file"): tool("read_file", "Read the contents of a file", "path"),
    ("web", "take_screenshot"): tool("take_screenshot", "Take a screenshot of the page"),
    ("mail", "send_email"): tool("send_email", "Send an email to somebody", "recipient", "iban"),
}


@pytest.fixture(scope="module")
def small() -> Index:
    return Index(SMALL)


@pytest.fixture(scope="module")
def index() -> Index:
    return Index(load_tools())


@pytest.fixture(scope="module")
def figures(index: Index) -> Figures:
    return judge(index, load_requests())


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("screenshot", "take_screenshot"),
        ("sending emails", "send_email"),
        ("get order", "getOrder"),
        ("remove the order", "deleteOrder"),
        ("open an MR", "create_pull_request"),
        ("merge request", "create_pull_request"),
        ("file a ticket", "create_issue"),
        ("show all bugs", "list_issues"),
        ("capture the website", "take_screenshot"),
        ("iban", "send_email"),
    ],
)
def test_a_tool_is_found_by_its_words_and_by_others_of_their_meaning(small: Index, words: str, tool: str) -> None:
    assert small.search(words)[0][1] == tool


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("get rid of that order", "deleteOrder"),
        ("throw the order away", "deleteOrder"),
        ("report a bug", "create_issue"),
        ("what does the page look like", "take_screenshot"),
        ("propose my changes", "create_pull_request"),
        ("write to my boss", "send_email"),
        ("what's in this file?", "read_file"),
        ("which bugs aren't fixed", "list_issues"),
        ("show me notes.txt", "read_file"),
    ],
)
def test_a_tool_is_found_by_what_people_say(small: Index, words: str, tool: str) -> None:
    assert small.search(words)[0][1] == tool


def test_two_words_of_a_name_may_be_written_as_one(small: Index) -> None:
    assert small.search("pullrequest")[0][1] == "create_pull_request"


def test_the_words_of_a_saying_may_stand_apart_and_in_any_order(small: Index) -> None:
    assert small.search("a bug in the payment that I want to report")[0][1] == "create_issue"


def test_among_equals_the_tool_stands_first_whose_server_is_about_the_matter() -> None:
    others = {
        (server, name): tool(name, f"About the {matter}")
        for server, matter in (("archive", "books"), ("sky", "weather"))
        for name in ("first", "second", "third")
    }
    both = {(server, "show"): tool("show", "Shows the temperature") for server in ("archive", "sky")}
    assert Index({**both, **others}).search("show the weather temperature")[0] == ("sky", "show")


@pytest.mark.parametrize(
    ("words", "tool"),
    [("scrennshot", "take_screenshot"), ("crate isue", "create_issue"), ("delte ordr", "deleteOrder")],
)
def test_a_misspelt_word_stands_for_the_nearest_one(small: Index, words: str, tool: str) -> None:
    assert small.search(words)[0][1] == tool


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("Datei lesen", "read_file"),
        ("Bildschirmfoto", "take_screenshot"),
        ("enviar un correo", "send_email"),
        ("supprimer la commande order", "deleteOrder"),
        ("发送邮件", "send_email"),
        ("创建拉取请求", "create_pull_request"),
    ],
)
def test_words_of_other_languages_are_known(small: Index, words: str, tool: str) -> None:
    assert small.search(words)[0][1] == tool


def test_the_server_that_is_named_comes_first() -> None:
    one = Index({(server, "search"): tool("search", "Search for things") for server in ("alpha", "beta", "gamma")})
    assert one.search("search beta")[0] == ("beta", "search")


def test_equal_tools_stand_by_server_and_name() -> None:
    pairs = [("b", "run"), ("a", "run"), ("c", "run")]
    assert Index({pair: tool("run", "Runs it") for pair in pairs}).search("run") == sorted(pairs)


def test_no_more_are_answered_than_asked_for(small: Index) -> None:
    assert [len(small.search("create new issue", limit)) for limit in (0, 1, 2)] == [0, 1, 2]


@pytest.mark.parametrize("words", ["", "   ", "the of and", "?!", "xqzzyv"])
def test_words_that_say_nothing_find_nothing(small: Index, words: str) -> None:
    assert small.search(words) == []


def test_an_empty_catalog_has_no_answer() -> None:
    assert Index({}).search("anything") == []


def test_a_schema_that_cannot_be_read_costs_the_tool_its_parameters_only() -> None:
    broken = Tool(name="weigh", description="Weighs a parcel", input_schema=Raw(b"{"))
    assert Index({("post", "weigh"): broken}).search("parcel") == [("post", "weigh")]


@settings(max_examples=200)
@given(words=st.text(max_size=80))
def test_whatever_is_asked_the_answer_is_tools_and_the_same_again(words: str) -> None:
    first, again = Index(SMALL).search(words), Index(dict(reversed(SMALL.items()))).search(words)
    assert first == again
    assert set(first) <= set(SMALL)


@given(description=st.text(max_size=300), name=st.text(min_size=1, max_size=30))
def test_whatever_a_server_calls_its_tools_they_can_be_searched(description: str, name: str) -> None:
    pair = ("server", name)
    assert Index({pair: tool(name, f"zebra {description}")}).search("zebra") == [pair]


@pytest.mark.parametrize("kind", list(FLOORS))
def test_the_right_tool_of_1272_is_among_the_first_five_as_often_as_the_page_says(figures: Figures, kind: str) -> None:
    assert figures[kind, "held"].percent >= FLOORS[kind]


@pytest.mark.parametrize("kind", ["german", "spanish", "french", "chinese"])
def test_short_requests_in_other_languages_find_their_tool(figures: Figures, kind: str) -> None:
    assert figures[kind, "held"].percent >= 80


def test_every_request_names_tools_that_exist() -> None:
    tools = load_tools()
    assert [request.words for request in load_requests() if not request.right <= set(tools)] == []


def test_there_are_enough_tools_servers_and_requests_to_judge_by() -> None:
    tools = load_tools()
    assert len(tools) >= 500
    assert len({server for server, _ in tools}) >= 20
    assert sum(request.half == "held" for request in load_requests()) == 100
