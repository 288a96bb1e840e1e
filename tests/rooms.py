#!/usr/bin/env python3
"""Fails when an include goes against the order of the rooms, a room has no description, or a file is not in its room's.

    tests/rooms.py SOURCE

A room is a folder of sources. It may include itself and the rooms below it. Prints TAP.
"""
import pathlib
import re
import sys

# From the lowest to the highest. docs/architecture.md says what each is for.
ORDER = """
cache/base cache/store
core/smtlib core/git core/history core/recipe core/sandbox core/run core/cases core/build core/remote core/engine core/workspace core/query core/care
core/fuzz core/weaken core/report
core/study/base core/study/judge core/study/localize core/study/steps core/study/reduce core/study/compare core/study/observation core/study/campaign core/study/watch
core/study/import core/study/page core/why/cut core/why/options core/why/diverge
core/portfolio
fs/tree fs/routes fs/kernel
tools tools/store tools/recipe tools/draft tools/solver tools/measure tools/study tools/migrate
""".split()


def room_of(path):
    parts = path.split("/")
    if parts[0] == "tools":
        return "/".join(parts[:2] if len(parts) > 2 else parts[:1])
    return "/".join(parts[:3] if parts[:2] in (["core", "study"], ["core", "why"]) else parts[:2])


def main():
    top = pathlib.Path(sys.argv[1])
    rank = {room: i for i, room in enumerate(ORDER)}
    bad, seen = [], set()
    for folder in ("cache", "core", "fs", "tools"):
        for file in sorted((top / folder).rglob("*.[ch]")):
            name = file.relative_to(top).as_posix()
            room = room_of(name)
            seen.add(room)
            if room not in rank:
                bad.append(f"{name}: the room {room} is not in the order")
                continue
            for line, text in enumerate(file.read_text().splitlines(), 1):
                m = re.match(r'\s*#\s*include\s+"([^"]+)"', text)
                if not m or "/" not in m.group(1):
                    continue
                other = room_of(m.group(1))
                if other in rank and rank[other] > rank[room]:
                    bad.append(f"{name}:{line}: {room} must not include {m.group(1)}")
                elif not (top / m.group(1)).exists():
                    bad.append(f"{name}:{line}: there is no {m.group(1)}")
    undescribed, unnamed = [], []
    for room in sorted(seen):
        readme = top / room / "README.md"
        text = readme.read_text() if readme.exists() else ""
        for word in ("For", "Knows", "Must not know", "Files"):
            if f"**{word}:**" not in text:
                undescribed.append(f"{room}/README.md: no line '{word}:'")
        for file in sorted((top / room).glob("*.[ch]")):
            if file.stem.startswith("cmd_") or file.stem.endswith("_internal"):
                continue
            if not re.search(rf"\b{file.stem}(\.[ch]\b|$)", text):
                unnamed.append(f"{room}/README.md: {file.name} is not among its files")
    results = [
        ("includes point down the order of the rooms", bad),
        ("every room says what it is for, what it knows and what it must not know", undescribed),
        ("every room says what each of its files is", unnamed),
    ]
    print(f"1..{len(results)}")
    for n, (what, wrong) in enumerate(results, 1):
        print(f"{'not ok' if wrong else 'ok'} {n} - {what}")
        for w in wrong:
            print("#", w)
    sys.exit(any(wrong for _, wrong in results))


main()
