"""A person with a browser, for tests: `BROWSER="python browser.py --name anna"` fills in the pages of a login.

It keeps cookies, follows redirects and submits every form it is shown, until a page has none. The other options make it
come back with something else than the issuer said.
"""

import argparse
import urllib.error
import urllib.request
from email.message import Message
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

CALLBACK = "/callback"
MOST_PAGES = 20


class Form(HTMLParser):
    """The form of a page: where it is sent, and what is filled in already."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = found.get("action") or ""
        elif tag == "input" and found.get("name"):
            self.fields[str(found["name"])] = found.get("value") or ""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves redirects to us: the last one is where an answer can be changed."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Browser:
    """One window of one person."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(CookieJar()))

    def open(self, url: str) -> None:
        """Go from page to page until one of them wants nothing more."""
        form: dict[str, str] | None = None
        for _ in range(MOST_PAGES):
            headers, page = self._load(url, form)
            location, found = headers.get("Location"), Form(page)
            if location:
                url, form = self._come_back(urljoin(url, location)), None
            elif found.action:
                url, form = urljoin(url, found.action), self._fill_in(found.fields)
            else:
                return
        raise SystemExit("the pages do not end")

    def _load(self, url: str, form: dict[str, str] | None) -> tuple[Message, str]:
        body = None if form is None else urlencode(form).encode()
        try:
            with self._opener.open(url, body, timeout=30) as answer:
                return answer.headers, answer.read().decode()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.headers, answer.read().decode()

    def _fill_in(self, fields: dict[str, str]) -> dict[str, str]:
        person = {"login": self._options.name, "password": "any"}
        return {name: person.get(name, value) for name, value in fields.items()}

    def _come_back(self, url: str) -> str:
        """The address to go to: the one that was named, unless it is the end of a login that is to be changed."""
        parts, options = urlsplit(url), self._options
        if parts.path != CALLBACK:
            return url
        fields = dict(parse_qsl(parts.query))
        if options.state:
            fields["state"] = options.state
        if options.replay and options.replay.exists():
            fields = dict(parse_qsl(options.replay.read_text()))
        if options.keep:
            options.keep.write_text(parts.query)
        return parts._replace(query=urlencode(fields)).geturl()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="anna", help="who logs in")
    parser.add_argument("--state", help="comes back with this state")
    parser.add_argument("--keep", type=Path, help="writes down what it comes back with")
    parser.add_argument("--replay", type=Path, help="comes back with what was written down")
    parser.add_argument("url")
    parsed = parser.parse_args()
    Browser(parsed).open(parsed.url)
