#!/usr/bin/env python3
"""Fresh cases like given ones: each is a case of a folder, changed at random.

    variants.py [-n EACH] [-s SEED] [-c CHANGES] FOLDER OUTPUT-FOLDER

For each family (sub-folder) of FOLDER writes EACH cases OUTPUT-FOLDER/FAMILY/NUMBER.smt2, of up to CHANGES changes: other
letters or lengths in string literals, other numbers, another regular operator, a negated assertion, an assertion
dropped, one repeated over other variables of the same sorts, or the assertions of a second case of the family over
partly the same variables. Nothing is known about the answers: fuzz/compare.sh asks several solvers.
"""
import argparse
import pathlib
import random
import re

TOKEN = re.compile(r';[^\n]*|\|[^|]*\||"(?:[^"]|"")*"|[()]|[^\s()";|]+')
REGULAR = [("re.*", "re.+"), ("re.+", "re.*"), ("re.opt", "re.*"), ("re.*", "re.opt"), ("re.union", "re.inter")]


def parse(text):
    stack = [[]]
    for token in TOKEN.findall(text):
        if token[0] == ";":
            continue
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


def show(e):
    return e if isinstance(e, str) else "(" + " ".join(map(show, e)) + ")"


def rewrite(e, f):
    """e with f applied to every leaf but those of loops and ranges, which want constants of their own kind."""
    if isinstance(e, str):
        return f(e)
    if e[:1] in (["_"], ["re.range"]):
        return e
    return [rewrite(x, f) for x in e]


class Case:
    def __init__(self, path):
        self.sorts, self.asserts, self.logic = {}, [], "QF_SLIA"
        for c in parse(path.read_text()):
            if c[0] == "declare-fun":
                self.sorts[c[1]] = show(c[3])
            elif c[0] == "declare-const":
                self.sorts[c[1]] = show(c[2])
            elif c[0] == "assert":
                self.asserts.append(c[1])

    def write(self, path):
        lines = ["(set-logic QF_SLIA)"]
        lines += [f"(declare-fun {v} () {s})" for v, s in self.sorts.items()]
        lines += [f"(assert {show(a)})" for a in self.asserts] + ["(check-sat)"]
        path.write_text("\n".join(lines) + "\n")


def change_literal(r, token):
    if "\\" in token or '""' in token[1:-1]:
        return token
    s = list(token[1:-1])
    for _ in range(r.randint(1, 2)):
        at = r.randint(0, len(s))
        kind = r.randrange(4)
        if kind == 0 and s:
            del s[min(at, len(s) - 1)]
        elif kind == 1:
            s.insert(at, r.choice(s or ["a", "b", "0"]))
        elif kind == 2 and s:
            s[min(at, len(s) - 1)] = r.choice("ab01xyz_=")
        elif s:
            s = s + s[at:]
    return '"' + "".join(s) + '"'


def literals(r, case):
    chance = r.choice([0.1, 0.5, 1])
    same = {}
    together = r.random() < 0.5

    def leaf(t):
        if t[0] != '"' or r.random() > chance:
            return t
        new = change_literal(r, t)
        return same.setdefault(t, new) if together else new
    case.asserts = [rewrite(a, leaf) for a in case.asserts]


def numbers(r, case):
    def leaf(t):
        if not t.isdigit() or r.random() < 0.5:
            return t
        return str(max(0, r.choice([int(t) + r.randint(-2, 3), int(t) * 10, r.randint(0, 9)])))
    case.asserts = [rewrite(a, leaf) for a in case.asserts]


def regular(r, case):
    a, b = r.choice(REGULAR)

    def leaf(t):
        return b if t == a and r.random() < 0.5 else t
    case.asserts = [rewrite(x, leaf) for x in case.asserts]


def negate(r, case):
    if case.asserts:
        i = r.randrange(len(case.asserts))
        case.asserts[i] = ["not", case.asserts[i]]


def drop(r, case):
    for _ in range(r.randint(1, 1 + len(case.asserts) // 4)):
        if len(case.asserts) > 1:
            del case.asserts[r.randrange(len(case.asserts))]


def repeat(r, case):
    by_sort = {}
    for v, s in case.sorts.items():
        by_sort.setdefault(s, []).append(v)
    other = {}
    for names in by_sort.values():
        mixed = names[:]
        r.shuffle(mixed)
        other.update(zip(names, mixed))
    if case.asserts:
        case.asserts.append(rewrite(r.choice(case.asserts), lambda t: other.get(t, t)))


def combine(r, case, second):
    names = {}
    for v, s in second.sorts.items():
        same = [w for w, t in case.sorts.items() if t == s]
        names[v] = r.choice(same) if same and r.random() < 0.3 else "second." + v.strip("|")
        while case.sorts.get(names[v], s) != s:
            names[v] = "another." + names[v]
        case.sorts.setdefault(names[v], s)
    case.asserts += [rewrite(a, lambda t: names.get(t, t)) for a in second.asserts]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=40)
    p.add_argument("-s", type=int, default=1)
    p.add_argument("-c", type=int, default=3)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("output", type=pathlib.Path)
    o = p.parse_args()
    for family in sorted(d for d in o.folder.iterdir() if d.is_dir()):
        paths = sorted(family.glob("*.smt2"))
        out = o.output / family.name
        out.mkdir(parents=True, exist_ok=True)
        for i in range(o.n):
            r = random.Random(f"{o.s} {family.name} {i}")
            case = Case(r.choice(paths))
            for _ in range(r.randint(1, o.c)):
                change = r.choice([literals, literals, numbers, regular, negate, drop, repeat, combine])
                if change is combine:
                    combine(r, case, Case(r.choice(paths)))
                else:
                    change(r, case)
            case.write(out / f"{i:03}.smt2")


main()
