#!/usr/bin/env python3
"""Writes the files that every page carries as one C file: core/report/page_files.h says what of.

    embed.py OUTPUT STYLE SCRIPT

The script stands in the page as it is, and the page's policy names its digest; so nothing in it may end it.
"""
import base64
import hashlib
import pathlib
import sys


def define(name, content):
    data = content.encode()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    rows = (", ".join(str(b) for b in data[i : i + 40]) for i in range(0, len(data), 40))
    body = ",\n        ".join(rows)
    return (f"static const char {name}_text[] = {{\n        {body}, 0}};\n"
            f'const struct page_file page_{name} = {{{name}_text, {len(data)}, "{digest}"}};\n')


def main():
    output, style, script = sys.argv[1:]
    files = {name: pathlib.Path(path).read_text(encoding="utf-8") for name, path in (("style", style), ("script", script))}
    for name, content in files.items():
        for end in ("</style", "<!--", "-->", "</script"):
            if end in content.lower():
                sys.exit(f"embed.py: {name} has {end}, which would end it in a page")
    parts = ['#include "core/report/page_files.h"\n'] + [define(*item) for item in files.items()]
    pathlib.Path(output).write_text("\n".join(parts))


main()
