#!/usr/bin/env python3
"""Cases for the paper's two techniques, apart and together.

    bench/generate.py [-n EACH] OUTPUT-FOLDER

Writes EACH cases, seeds 0, 1, 2 .., of every kind into OUTPUT-FOLDER/FAMILY/sat-SEED.smt2 and unsat-SEED.smt2. The
answers are known by construction: a satisfiable system is built around words for its variables, an unsatisfiable
one has a reason that is given as a comment.

  overlap   w X = X v, alone or inside longer equations, or taken apart over several; also with Z for the constant w.
            Built around X = (pq)^k p, w = pq, v = qp. Not satisfiable where X's residue modulo |w|, a letter, or a
            factor is forbidden, or where v is no conjugate of w.
  length    One word, cut twice, is an equation; how long its parts are is said in sums of some of them. Not satisfiable
            where such a sum puts two different letters into one place, or parts side by side that are said to differ.
  mixed     Both, with lengths of the first in the sums of the second.
  boolean   Clauses of three literals about few short words, for the front ends: most of the work is the Boolean search.
            Not satisfiable where their concatenation is to contain a letter that none of the words has.
"""
import argparse
import pathlib
import random


def lit(w):
    return '"' + w + '"'


def cat(*parts):
    parts = [p for p in parts if p != '""']
    return parts[0] if len(parts) == 1 else "(str.++ " + " ".join(parts) + ")" if parts else '""'


def letters(r, n, alphabet="ab"):
    return "".join(r.choice(alphabet) for _ in range(n))


class Case:
    def __init__(self):
        self.names, self.asserts = [], []

    def var(self, stem):
        name = stem + str(sum(n.startswith(stem) for n in self.names))
        self.names.append(name)
        return name

    def say(self, formula):
        self.asserts.append("(assert " + formula + ")")

    def why(self, text):
        self.asserts.append("; " + text)

    def text(self):
        return "\n".join(["(set-logic QF_SLIA)"] + [f"(declare-fun {n} () String)" for n in self.names]
                         + self.asserts + ["(check-sat)"]) + "\n"


def conjugates(r):
    while True:
        p, q = letters(r, r.randint(0, 3)), letters(r, r.randint(1, 3))
        if p + q != q + p:
            return p, q


def overlap(r, c, sat):
    """Returns the overlapping variable and its length in the words that the case is built around."""
    p, q = conjugates(r)
    w, v, k = p + q, q + p, r.randint(2, 40)
    x = c.var("x")
    reason = None if sat else r.choice(["residue", "letter", "factor", "conjugate"])
    if reason == "conjugate":
        v = letters(r, len(v) - 1) + "c"
        c.why("w has no letter c: w and v are no conjugates")
    shape = r.choice(["alone", "apart", "tail", "variable"])
    if shape == "alone":
        c.say(f"(= {cat(lit(w), x)} {cat(x, lit(v))})")
    elif shape == "apart":
        y, z = c.var("y"), c.var("y")
        c.say(f"(= {cat(y, z)} {cat(lit(w), x, z)})")
        c.say(f"(= {cat(z, y)} {cat(z, x, lit(v))})")
    elif shape == "tail":
        y, z = c.var("y"), c.var("y")
        c.say(f"(= {cat(lit(w), x, y)} {cat(x, lit(v), z)})")
        c.say(f"(= (str.len {y}) (str.len {z}))")
    else:
        z, u = c.var("z"), c.var("z")
        c.say(f"(= {cat(z, x)} {cat(x, u)})")
        c.say(f"(= {z} {lit(w)})")
        c.say(f"(= (str.at {u} {len(v) - 1}) {lit(v[-1])})")
        if reason == "conjugate":
            c.say(f"(= {u} {lit(v)})")
    n, m = len(w), len(w) * k + len(p)
    if reason is None:
        c.say(f"(>= (str.len {x}) {m - r.randint(0, n - 1)})")
    elif reason == "residue" and n > 1:
        c.why(f"|{x}| is {len(p)} modulo {n}, if w is primitive")
        root = next(d for d in range(1, n + 1) if n % d == 0 and w[:d] * (n // d) == w)
        if root == 1:
            c.why("w is a power of a letter: another letter instead")
            c.say(f"(str.contains {x} \"c\")")
        else:
            bad = [i for i in range(root) if i != len(p) % root]
            c.say(f"(= (mod (str.len {x}) {root}) {r.choice(bad)})")
    elif reason == "factor":
        c.why("as a factor, w's first letter changed does not occur in a power of w, but perhaps w is like that: c then")
        c.say(f"(str.contains {x} {lit('c' + w[1:])})")
    else:
        c.why("no letter c in w")
        c.say(f"(str.in_re {x} (re.++ re.all (str.to_re \"c\") re.all))")
    return x, m


def cuts(r, word, n):
    at = sorted(r.sample(range(1, len(word)), n - 1))
    return [word[a:b] for a, b in zip([0] + at, at + [len(word)])]


def length(r, c, sat, extra=None):
    word = letters(r, r.randint(30, 90))
    left, right = cuts(r, word, r.randint(6, 9)), cuts(r, word, r.randint(6, 9))
    value, sides = {}, []
    for stem, parts in (("l", left), ("r", right)):
        side = []
        for part in parts:
            if len(part) <= 3 and r.random() < 0.4:
                side.append(lit(part))
            else:
                side.append(c.var(stem))
                value[side[-1]] = len(part)
        sides.append(side)
    if not sat:
        # two letters in one place: .. s0 "c" t0 on the left, .. s1 "d" t1 on the right, |.. s0| = |.. s1|
        ends = [side[:r.randint(1, len(side) - 1)] for side in sides]
        rests = [side[len(end):] for side, end in zip(sides, ends)]
        total = [[f"(str.len {p})" for p in end] for end in ends]
        if r.random() < 0.5:
            sides = [ends[0] + ['"c"'] + rests[0], ends[1] + ['"d"'] + rests[1]]
            c.why("c and d are in one place")
        else:
            a, b = c.var("s"), c.var("s")
            sides = [ends[0] + [a] + rests[0], ends[1] + [b] + rests[1]]
            c.why("two parts in one place differ")
            c.say(f"(= (str.len {a}) (str.len {b}))")
            c.say(f"(not (= {a} {b}))")
        c.say(f"(= (+ {' '.join(total[0])} 0) (+ {' '.join(total[1])} 0))")
    c.say(f"(= {cat(*sides[0])} {cat(*sides[1])})")
    names = sorted(value)
    known = dict(value)
    if extra:
        known[extra[0]] = extra[1]
        names.append(extra[0])
    if sat:
        for _ in range(r.randint(3, 5)):
            some = r.sample(names, min(len(names), r.randint(2, 3)))
            half = r.randint(1, len(some) - 1) if len(some) > 1 else 1
            a, b = some[:half], some[half:]
            d = sum(known[n] for n in a) - sum(known[n] for n in b)
            c.say(f"(= (+ {' '.join(f'(str.len {n})' for n in a)} 0) "
                  f"(+ {' '.join(f'(str.len {n})' for n in b)} {d if d >= 0 else f'(- {-d})'}))")
    elif extra:
        n = r.choice(names[:-1]) if len(names) > 1 else extra[0]
        c.say(f"(<= (str.len {n}) (* 3 (str.len {extra[0]})))")


def mixed(r, c, sat):
    first = sat or r.random() < 0.5  # which of the two has the reason
    x, m = overlap(r, c, first)
    length(r, c, sat or not first, (x, m))


def boolean(r, c, sat):
    n = r.randint(8, 12) if sat else r.randint(3, 5)
    words = [[letters(r, r.randint(1, 3)) for _ in range(3)] for _ in range(n)]
    names, value = [c.var("x") for _ in range(n)], [r.choice(w) for w in words]
    for x, alternatives in zip(names, words):
        c.say("(or " + " ".join(f"(= {x} {lit(w)})" for w in alternatives) + ")")

    def literal():
        i, j = r.randrange(n), r.randrange(n)
        w = letters(r, r.randint(1, 2))
        return r.choice([
            (f"(= {names[i]} {names[j]})", value[i] == value[j]),
            (f"(str.prefixof {lit(w)} {names[i]})", value[i].startswith(w)),
            (f"(str.contains {cat(names[i], names[j])} {lit(w)})", w in value[i] + value[j]),
            (f"(= (str.len {names[i]}) (str.len {names[j]}))", len(value[i]) == len(value[j]))])

    for _ in range(3 * n):
        clause = [literal() + (r.random() < 0.5,) for _ in range(3)]
        if any(truth == positive for _, truth, positive in clause):
            c.say("(or " + " ".join(f if positive else f"(not {f})" for f, _, positive in clause) + ")")
    everything = cat(*r.sample(names, n))
    if sat:
        c.say(f"(str.contains {everything} {lit(value[0])})")
    else:
        c.why("no letter c in any word")
        c.say(f"(str.contains {everything} \"c\")")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=10)
    p.add_argument("output", type=pathlib.Path)
    o = p.parse_args()
    for family, build in (("overlap", overlap), ("length", length), ("mixed", mixed), ("boolean", boolean)):
        (o.output / family).mkdir(parents=True, exist_ok=True)
        for sat in True, False:
            for seed in range(o.n):
                c = Case()
                build(random.Random(f"{family} {sat} {seed}"), c, sat)
                (o.output / family / f"{'sat' if sat else 'unsat'}-{seed:02}.smt2").write_text(c.text())


main()
