#!/usr/bin/env python3
"""Queries cut out of scripts, by hand.

    tests/soak/cut.py agree [--scripts 250] [--seed 1] build/tests/soak_cut z3|cvc5
    tests/soak/cut.py plant [--scripts 10] build/tools/solverfs

`agree`: random scripts of declarations, named terms, push, pop, reset, reset-assertions, check-sat and check-sat-assuming, a third of them with global
declarations. Each of their twelve queries, cut alone and behind up to three others, must be answered as in the script.

`plant`: scripts of which the last query is slow only behind some others, on a solver that tells its times (tests/tools/command.sh), log-normal under each
seed and text. Does `case cut` name just these, and in how many runs? Prints a table.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

QUERIES = 12


class Script:
    """Makes one, and knows what is declared where."""

    def __init__(self, rng, solver, is_global):
        self.rng, self.solver, self.is_global = rng, solver, is_global
        self.lines, self.asked, self.made = [], 0, 0
        self.begin()
        while self.asked < QUERIES:
            steps = [self.declare] * 15 + [self.add_assert] * 30 + [self.push] * 15 + [self.pop] * 12 + [self.check] * 12 + [self.assume] * 10
            rng.choice(steps + [self.reset, self.reset_assertions, self.reset_assertions, self.echo, self.echo])()

    def begin(self):
        self.levels, self.everywhere, self.names = [[]], [], []
        if self.is_global:
            self.lines.append("(set-option :global-declarations true)")
        self.lines.append(f"(set-logic {self.rng.choice(['QF_LIA', 'ALL'])})")

    def known(self):
        return [x for level in self.levels for x in level] + self.everywhere

    def declare(self):
        self.made += 1
        name = f"x{self.made}" if self.is_global or self.rng.random() < 0.6 else f"v{self.rng.randrange(5)}"
        if name in self.known():
            return
        self.lines.append(self.rng.choice([f"(declare-fun {name} () Int)", f"(declare-const {name} Int)", f"(define-fun {name} () Int {self.rng.randrange(3)})"]))
        (self.everywhere if self.is_global else self.levels[-1]).append(name)

    def atom(self):
        if not self.known():
            return self.rng.choice(["true", "true", "false"])
        a, b, k = self.rng.choice(self.known()), self.rng.choice(self.known()), self.rng.choice(["(- 2)", "(- 1)", "0", "1", "2", "3"])
        return self.rng.choice([f"(< {a} {k})", f"(> {a} (+ {b} {k}))", f"(= {a} (+ {b} {k}))", f"(distinct {a} {b})", f"(or (< {a} {k}) (> {b} {k}))"])

    def add_assert(self):
        if self.rng.random() < 0.85:
            self.lines.append(f"(assert {self.atom()})")
            return
        self.made += 1
        self.lines.append(f"(assert (! {self.atom()} :named n{self.made}))")
        self.names.append((0 if self.is_global else len(self.levels), f"n{self.made}"))

    def push(self):
        n = self.rng.choice([1, 1, 1, 2, 3, 0])
        self.lines.append("(push)" if n == 1 and self.solver == "z3" and self.rng.random() < 0.5 else f"(push {n})")
        self.levels += [[] for _ in range(n)]

    def pop(self):
        n = min(self.rng.choice([1, 1, 2, 3]), len(self.levels) - 1)
        if n > 0:
            self.lines.append(f"(pop {n})")
            del self.levels[-n:]
            self.names = [(level, name) for level, name in self.names if level <= len(self.levels)]

    def check(self):
        self.lines.append("(check-sat)")
        self.asked += 1

    def assume(self):
        if self.names:
            chosen = self.rng.sample(self.names, min(len(self.names), self.rng.randint(1, 2)))
            self.lines.append("(check-sat-assuming (" + " ".join(self.rng.choice([name, f"(not {name})"]) for _, name in chosen) + "))")
            self.asked += 1

    def reset(self):
        self.lines.append("(reset)")
        self.begin()

    def reset_assertions(self):
        self.lines.append("(reset-assertions)")
        self.levels = [self.levels[0] if self.solver == "z3" else []]  # Z3 goes on knowing them
        self.names = [n for n in self.names if n[0] == 0]

    def echo(self):
        self.lines.append('(echo "x") ; (check-sat)')


def ask(solver, text):
    pathlib.Path("asked.smt2").write_text(text)
    command = [solver] + (["--incremental"] if "cvc5" in solver else []) + ["asked.smt2"]
    out = subprocess.run(command, capture_output=True, text=True)
    lines = (out.stdout + out.stderr).splitlines()
    return [x for x in lines if x in ("sat", "unsat", "unknown")], [x for x in lines if "rror" in x]


def agree(options, cut, solver):
    cuts = behind = differ = skipped = 0
    for i in range(options.scripts):
        rng = random.Random(f"{options.seed} {i}")
        text = "\n".join(Script(rng, os.path.basename(solver), i % 3 == 0).lines) + "\n"
        answers, errors = ask(solver, text)
        if errors or len(answers) != QUERIES:  # it declares twice what the solver still knows
            skipped += 1
            continue
        pathlib.Path("script.smt2").write_text(text)
        for q in range(1, QUERIES + 1):
            for kept in {(), tuple(sorted(rng.sample(range(1, q), min(q - 1, rng.randint(0, 3)))))}:
                p = subprocess.run([cut, "script.smt2", str(q)] + ([",".join(map(str, kept))] if kept else []), capture_output=True, text=True)
                got, errors = ask(solver, p.stdout)
                cuts, behind = cuts + 1, behind + bool(kept)
                if p.returncode or errors or got != [answers[k - 1] for k in (*kept, q)]:
                    differ += 1
                    print(f"script {i}, query {q} behind {kept}: {got}, not as in the script; {errors[:1]} {p.stderr}\n{text}")
    print(f"{solver}: {options.scripts} scripts, {skipped} with errors of their own; {cuts} cuts, {behind} of them behind others: {differ} answered otherwise")
    return differ > 0


TOY = r"""#!/bin/sh
[ "$1" = --seed ] && seed=$2
for case; do :; done
awk -v seed=$(($(cksum <"$case" | cut -d ' ' -f 1) * 31 + ${seed:-0} * 7919)) '
BEGIN { srand(seed % 2147483647); for (i = 0; i < 5; i++) rand() }
function gauss() { return sqrt(-2 * log(rand() + 1e-12)) * cos(6.2831853 * rand()) }
/:plant/ { gsub(/["()]/, ""); target = $3; ratio = $4; sigma = $5; for (i = 6; i <= NF; i++) need[$i] }
/^\(check-sat/ { gsub(/[()]/, ""); all = 1; for (x in need) all = all && (x in seen)
	s = 0.1 * exp(sigma * gauss()) * ($2 == target && all ? ratio : 1); seen[$2]; print "sat"; print "line " s >"/dev/stderr"; t += s }
END { print "lasts " t >"/dev/stderr" }' "$case"
"""


def plant_one(solverfs, queries, planted, ratio, sigma, i):
    """What was found, and the runs it took."""
    need = sorted(random.Random(f"{queries} {planted} {ratio} {sigma} {i}").sample(range(1, queries), planted))
    name = f"{queries}-{planted}-{ratio}-{sigma}-{i}.smt2"
    pathlib.Path(name).write_text(f'(set-info :plant "q{queries} {ratio} {sigma} {" ".join(f"q{k}" for k in need)}")\n' +
                                  "".join(f"(push 1)\n(assert a{q})\n(check-sat-assuming (q{q}))\n(pop 1)\n" for q in range(1, queries + 1)))
    subprocess.run([solverfs, "case", "add", name], check=True, capture_output=True)
    out = subprocess.run([solverfs, "case", "cut", f"{name}#{queries}", "--at", f"exec:{os.getcwd()}/toy --seed {{n}}", "--timeout", "100h", "--json"],
                         check=True, capture_output=True, text=True).stdout
    j = json.loads(out)
    what = "exact" if j["after"] == need else "none" if "found" not in j else "wrong"
    return what if what == "none" or "found" not in j or j["certain"] else "uncertain", j["all-runs"]


def plant(options, solverfs):
    os.mkdir("faults")
    pathlib.Path("faults/run.clock").write_text("fail ETIME\n")
    pathlib.Path("toy").write_text(TOY)
    os.chmod("toy", 0o755)
    os.environ.update(SOLVERFS_STORE=os.path.abspath("store"), SOLVERFS_FAULTS=os.path.abspath("faults"), SOLVERFS_SLOTS=os.path.abspath("slots"))
    subprocess.run([solverfs, "init"], check=True, capture_output=True)
    print("queries\tplanted\tratio\tsigma\texact\tnone found\tsaid to be uncertain\twrong\truns, median")
    for queries, planted in [(12, 0), (12, 1), (12, 2), (12, 3), (40, 1), (40, 2), (40, 3), (1000, 2)]:
        for ratio, sigma in [(20, 0.1), (20, 0.5), (3, 0.1), (3, 0.3), (3, 0.5), (1.5, 0.1)] if planted else [(1, 0.1), (1, 0.5)]:
            if queries == 1000 and (ratio, sigma) not in [(20, 0.5), (3, 0.3)]:
                continue
            got = [plant_one(solverfs, queries, planted, ratio, sigma, i) for i in range(options.scripts)]
            counts = [sum(g[0] == what for g in got) for what in ("exact", "none", "uncertain", "wrong")]
            print(queries, planted, ratio, sigma, *counts, statistics.median(g[1] for g in got), sep="\t", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["agree", "plant"])
    parser.add_argument("command", nargs="+")
    parser.add_argument("--scripts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    commands = [os.path.abspath(options.command[0]), *options.command[1:]]
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        sys.exit({"agree": agree, "plant": plant}[options.what](options, *commands))


main()
