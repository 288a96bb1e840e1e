#!/usr/bin/env python3
"""Is a page of solverfs whole? Elements are closed in order, ids are there once, tables have captions and headings with a scope, nothing is fetched.

    check_page.py PAGE [FOLDER]

With FOLDER, the folder that the page stands in, each link leads to something there; without, the page has no links. Prints what its plots are
drawn from, as JSON.
"""
import html.parser
import os
import pathlib
import sys
import urllib.parse

VOID = {"meta", "br", "input", "link", "img", "hr", "col"}
FETCHING = {"src", "srcset", "action", "formaction", "background", "poster", "data", "ping"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.wrong, self.open, self.ids, self.links, self.data, self.scripts = [], [], set(), [], "", 0

    def say(self, text):
        self.wrong.append(f"line {self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        values = dict(attributes)
        if len(set(names)) < len(names):
            self.say(f"<{tag}> has an attribute twice")
        for name in names:
            if name.startswith("on") or name in FETCHING:
                self.say(f"<{tag}> has {name}")
        if "id" in values:
            if values["id"] in self.ids:
                self.say(f"the id {values['id']} is there twice")
            self.ids.add(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        if tag == "th" and "scope" not in values:
            self.say("<th> without scope")
        if self.open and self.open[-1] == "table" and tag == "thead":
            self.say("a table without a caption") if not self.captioned else None
        if tag == "table":
            self.captioned = False
        if tag == "caption":
            self.captioned = True
        if tag in ("img", "iframe", "object", "embed", "link", "base", "form"):
            self.say(f"<{tag}>")
        self.scripts += tag == "script" and not attributes
        if tag not in VOID:
            self.open.append(tag)
        self.is_data = tag == "script" and values.get("id") == "history-data"

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.say(f"</{tag}> ends another element")
        self.is_data = False

    def handle_data(self, data):
        if self.is_data:
            self.data += data


def main():
    page = Page()
    page.is_data = False
    page.feed(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    page.close()
    if page.open:
        page.say(f"not closed: {page.open}")
    if page.scripts != 1:
        page.say(f"{page.scripts} scripts, not 1")
    for link in page.links:
        path = urllib.parse.unquote(link)
        if link.startswith("#"):
            if link[1:] not in page.ids:
                page.say(f"no {link}")
        elif len(sys.argv) < 3:
            page.say(f"a link to {link}")
        elif urllib.parse.urlparse(link).scheme or link.startswith("/") or not os.path.exists(os.path.join(sys.argv[2], path)):
            page.say(f"a link to {link}, which leads nowhere")
    if len(sys.argv) > 2 and not any(not link.startswith("#") for link in page.links):
        page.say("no links")
    print(page.data)
    for line in page.wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if page.wrong else 0)


main()
