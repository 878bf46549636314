"""Which addresses a URI template names."""

import time

import pytest

from mooring.core.protocol.address import is_expansion


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("file:///{name}", "file:///a.txt"),
        ("file:///{+path}", "file:///a/b.txt"),
        ("git://{owner}/{repo}/x", "git://me/mine/x"),
        ("x://s{?q,r}", "x://s?q=1&r=2"),
        ("x://s{?q}", "x://s"),
        ("x://s{/a,b}", "x://s/1/2"),
        ("x://s{#part}", "x://s#top"),
        ("x://s{.type}", "x://s.json"),
        ("x://s{;v}", "x://s;v=1"),
        ("x://s?a=1{&b}", "x://s?a=1&b=2"),
        ("{+uri}", "x://anything"),
        ("x://plain", "x://plain"),
        ("x://{a}-{b}-{c}", "x://1-2-3-4"),
    ],
)
def test_a_template_names_what_it_expands_to(template: str, address: str) -> None:
    assert is_expansion(address, [template])


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("file:///{name}", "file:///a/b.txt"),
        ("file:///{name}", "file:///a?x=1"),
        ("file:///{name}", "other:///a"),
        ("file:///{name}.txt", "file:///a.txt.exe"),
        ("x://s{?q}", "x://s/elsewhere"),
        ("x://plain", "x://plain2"),
        ("", "x://plain"),
        ("x://{unclosed", "x://a"),
        ("file:///{+path}", "file:///a/../../etc/passwd"),
        ("file:///{+path}", "file:///a/%2e%2E/etc/passwd"),
        ("file:///{+path}", "file:///a%2f..%2fetc/passwd"),
        ("file:///{name}", "file:///.."),
        ("file:///{+path}", "file:///a%00b"),
        ("file:///{+path}", "file:///a\0b"),
        ("file:///{+path}", "file:///a\\b"),
        ("file:///{+path}", "file:///a\nb"),
        ("file:///{+path}", "file:///" + "a" * 5000),
    ],
)
def test_a_template_names_nothing_else_and_never_what_climbs_or_hides(template: str, address: str) -> None:
    assert not is_expansion(address, [template])


def test_hostile_templates_cost_a_bounded_time() -> None:
    template = "x://" + "{+a}b" * 1000
    began = time.process_time()
    assert not is_expansion("x://" + "ab" * 2000 + "!", [template] * 1000)
    assert not is_expansion("x://" + "ab" * 2000 + "!", ["x://{+a}{+b}z"] * 10_000)
    assert time.process_time() - began < 1
