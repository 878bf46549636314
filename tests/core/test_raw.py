"""JSON kept as bytes: what is broken in its text is repaired when it is read."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import DecodeError

from mooring.core.protocol.raw import read, repaired


@given(st.text(st.characters(codec=None, categories=None) | st.sampled_from("\\ud800\\udc00\\\\u")))
def test_any_string_can_be_read_and_keeps_all_but_its_lone_surrogates(text):
    expected = re.sub("[\ud800-\udfff]", "\ufffd", json.loads(json.dumps(text)))
    assert read(repaired(json.dumps(text).encode())) == expected


def test_bytes_that_are_not_utf8_become_replacement_characters():
    assert read(b'{"a":"x\xff\xfey"}') == {"a": "x\ufffd\ufffdy"}


def test_a_repair_never_takes_the_end_of_a_text():
    deep = b"[" * 500 + b"]" * 500
    for escape in (rb"\ud8", rb"\ud800\udc", rb"\udc8"):
        with pytest.raises(DecodeError):
            read(b'["\xff","' + escape + b'"x",' + deep + b"]")


def test_nothing_is_read_as_none():
    assert read(b"") is None
