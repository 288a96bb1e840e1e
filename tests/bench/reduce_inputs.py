#!/usr/bin/env python3
"""Inputs and interest tests for tests/bench/reduce.py: published files and generated ones, and what z3, cvc5 or a made-up solver does on them.

    tests/bench/reduce_inputs.py --corpora FOLDER --slow build/tests/bench/slow FOLDER

Makes FOLDER/tuning.tsv and FOLDER/held-out.tsv, a line for each input: a name, a file and a command, which ends with 0 for what is interesting. Files of a
family are taken in the order of a hash of their names, where the test holds on them: the first ones to tune with, the next ones to judge by.

slow: cvc5 answers within 0.2 s of CPU time, the target has not after 0.4 s. limit: z3 gives up at half of the effort (rlimit) that it needs, cvc5
does not. counter: z3 answers as on the input, after at least half as many conflicts, or after half of the effort (rlimit-count). unknown: cvc4 says
unknown, z3 answers. crash: a well-sorted text in which operators stand within each other. effort: a solver whose time is the sum of the squared
depths of an operator.
"""
import argparse
import hashlib
import os
import random
import re
import subprocess

# -- interest tests: what the shell does with the file "$1" --------------------------------------------------------------

WELL_SORTED = 'cvc5 --parse-only --strict-parsing "$1" >/dev/null 2>&1 || cvc5 --parse-only "$1" >/dev/null 2>&1'


def z3(file, *options):
    try:
        out = subprocess.run(["z3", "-T:1", "-st", *options, file], capture_output=True, text=True, timeout=20, check=False).stdout
    except subprocess.TimeoutExpired:
        return "timeout", {}
    return out.split("\n", maxsplit=1)[0], {k: int(n) for k, n in re.findall(r":([a-z-]+)\s+(\d+)\b(?!\.)", out)}


def limit(file, o):
    answer, counts = z3(file)
    most = counts.get("rlimit-count", 0) // 2
    if answer not in ("sat", "unsat") or most < 20000:
        return None
    return f'[ "$(z3 rlimit={most} "$1" 2>/dev/null)" = unknown ] && [ "$(cvc5 --tlimit=2000 "$1" 2>/dev/null)" = {answer} ]'


def counter(name):
    """z3's count of so much at least."""
    def test(file, o):
        answer, counts = z3(file)
        least = counts.get(name, 0) // 2
        if answer not in ("sat", "unsat") or least < 2:
            return None
        return (f'z3 -T:3 -st "$1" 2>/dev/null | awk \'NR == 1 && $0 != "{answer}" {{ exit }} $1 ~ /:{name}/ && $2 + 0 >= {least} {{ is = 1 }} '
                'END { exit !is }\'')
    return test


def unknown(file, o):
    return '[ "$(timeout 3 cvc4 --tlimit=2000 "$1" 2>/dev/null)" = unknown ] && case "$(z3 -T:2 "$1" 2>/dev/null)" in sat|unsat) ;; *) exit 1; esac'


def slow(target):
    return lambda file, o: f'{o.slow} 0.4 2 /usr/bin/cvc5 "{target}" "$1"'


def crash(pattern):
    return lambda file, o: f"tr -s ' \\n' '  ' <\"$1\" | grep -qE '{pattern}' && {{ {WELL_SORTED}; }}"


def effort(file, o):
    """Half of what the input costs; a candidate that costs as much takes 0.1 s or more."""
    program = ('{ gsub(/[()]/, " & "); n = split($0, w, /[ \\n]+/); for (i = 1; i <= n; i++) { d += (w[i] == "(") - (w[i] == ")"); '
               'if (w[i] ~ /^str\\./) e += d * d } } END { if (!least) print e; for (i = 0; i < 3000000 && i < e * 6000; i++) x += i % 7; '
               'exit least && e < least }')
    whole = int(subprocess.run(["awk", program, file], capture_output=True, text=True, check=True).stdout or 0)
    return f"awk -v least={whole // 2} '{program}' \"$1\" && {{ {WELL_SORTED}; }}" if whole > 100 else None


# -- generated inputs ------------------------------------------------------------------------------------------------------

GRAMMAR = {
    "B": ["(and B B B)", "(or B B)", "(not B)", "(xor B B)", "(=> B B)", "(= V V)", "(bvult V V)", "(bvsle V V)", "(ite B B B)", "(= I I)",
             "(< I I)"],
    "V": ["(bvadd V V)", "(bvmul V V)", "(bvand V V)", "(bvshl V V)", "(bvnot V)", "(concat ((_ extract 7 4) V) ((_ extract 3 0) V))",
          "(ite B V V)", "((_ zero_extend 4) ((_ extract 5 2) V))", "(bvudiv V V)"],
    "I": ["(+ I I I)", "(* 3 I)", "(- I I)", "(ite B I I)", "(div I 5)", "(select A I)", "(f I)"],
    "A": ["(store A I I)", "(ite B A A)"],
}
QUANTIFIED = ["(forall ((x Int)) (=> (< x I) (= (select A x) (f x))))", "(exists ((x Int) (y Int)) (and (< x y) (< (f x) (f I))))",
              "(forall ((x Int)) (or (P x) (not (P (f x))) B))"]


def made(r, sort, depth, with_quantifiers):
    leaves = {"B": ["p0", "p1", "true"], "V": ["v0", "v1", "#x3a", "#x01"], "I": ["i0", "i1", "i2", "17", "402"], "A": ["a0", "a1"]}[sort]
    if depth == 0 or (depth < 3 and r.random() < 0.25):
        return r.choice(leaves)
    rows = GRAMMAR[sort] + (QUANTIFIED if with_quantifiers and sort == "B" else [])
    return re.sub(r"\b[BVIA]\b", lambda m: made(r, m.group(), depth - 1, with_quantifiers), r.choice(rows))


def generated(seed, with_quantifiers):
    r = random.Random(seed)
    lines = ["(set-logic ALL)", "(declare-fun p0 () Bool)", "(declare-fun p1 () Bool)", "(declare-fun a0 () (Array Int Int))",
             "(declare-fun a1 () (Array Int Int))", "(declare-fun f (Int) Int)", "(declare-fun P (Int) Bool)"]
    lines += [f"(declare-fun {c}{k} () {s})" for c, s in (("v", "(_ BitVec 8)"), ("i", "Int")) for k in range(3 if c == "i" else 2)]
    lines += ["(define-fun both ((x Bool) (y Bool)) Bool (and x y))"]
    lines += [f"(assert (let ((t {made(r, 'B', 4, with_quantifiers)})) (both (or t {made(r, 'B', 2, with_quantifiers)}) "
              f"(not (and t {made(r, 'B', 3, with_quantifiers)})))))" for _ in range(6)]
    return "\n".join(lines + ["(check-sat)", ""])


# -- families: name, folder of the corpora (or whether quantifiers are generated), test, how many for each list ---------------

FAMILIES = [
    ("z3", "strings", slow("/usr/bin/z3"), 2),
    ("z3str3", "strings", slow("/usr/bin/z3 smt.string_solver=z3str3"), 2),
    ("z3seq-conflicts", "spr-z3seq", counter("conflicts"), 1),
    ("strings-limit", "strings", limit, 1),
    ("strings-conflicts", "strings", counter("conflicts"), 1),
    ("strings-effort", "strings", effort, 1),
    ("LIA-conflicts", "arith/LIA", counter("conflicts"), 1),
    ("LRA-conflicts", "arith/LRA", counter("conflicts"), 1),
    ("NRA-count", "arith/NRA", counter("rlimit-count"), 1),
    ("QF_LIA-conflicts", "arith/QF_LIA", counter("conflicts"), 1),
    ("QF_LRA-count", "arith/QF_LRA", counter("rlimit-count"), 1),
    ("QF_NRA-unknown", "arith/QF_NRA", unknown, 1),
    ("bits-crash", False, crash(r"bvmul.*(extract|concat).*bvudiv"), 1),
    ("bits-conflicts", False, counter("conflicts"), 1),
    ("arrays-crash", False, crash(r"\(select \((store|ite).*\(div.*bvshl"), 1),
    ("quantifiers-crash", True, crash(r"\(forall.*\(select.*\(f .*\(exists"), 1),
    ("quantifiers-conflicts", True, counter("conflicts"), 1),
]


def candidates(o, name, source):
    if isinstance(source, bool):
        for seed in range(100):
            path = os.path.join(o.folder, f"{name}-{seed}.smt2")
            with open(path, "w", encoding="utf-8") as f:
                f.write(generated(f"{name} {seed}", source))
            yield path
        return
    files = [os.path.join(d, n) for d, _, names in os.walk(os.path.join(o.corpora, source)) for n in names if n.endswith(".smt2")]
    yield from sorted(files, key=lambda f: hashlib.sha256(os.path.basename(f).encode()).digest())


def holds(command, file):
    argv = ["timeout", "5", "sh", "-c", command, "sh", file]
    return subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=os.path.abspath)
    p.add_argument("--corpora", required=True, type=os.path.abspath)
    p.add_argument("--slow", required=True, type=os.path.abspath)
    o = p.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    lists = {name: open(os.path.join(o.folder, name + ".tsv"), "w", encoding="utf-8") for name in ("tuning", "held-out")}
    for name, source, test, n in FAMILIES:
        taken = 0
        for file in candidates(o, name, source):
            command = test(file, o)
            if command and os.path.getsize(file) > 0 and holds(command, file):
                print(name, file, command, sep="\t", file=lists["tuning" if taken < n else "held-out"], flush=True)
                taken += 1
            elif isinstance(source, bool):
                os.unlink(file)
            if taken == 2 * n:
                break
        print(f"{name}: {taken} of {2 * n}", flush=True)
    for f in lists.values():
        f.close()


main()
