#!/usr/bin/env python3
"""Asks solvers whether a rule of weakening does not hold: "stronger and not weaker" is never to be sat.

    tests/weaken/prove.py [--count N] [--formulas N] [--seed N] [--timeout MS] [--table FILE] PROVE [RULE ...]

PROVE is the program built from prove.c. Rules that do not hold are tried as well and must be refuted. Uses what there is of z3 and cvc5.
Prints TAP, and for each solver how many answers there were of each kind.

N distinct instances of each rule are asked about in rounds of a hundred, as far as a rule has so many. With --table, FILE is written anew
after each round: a line for each rule, with the answers of each solver so far, so that a long run can be looked at or ended.
A "sat" is asked again by itself; what is not "sat" then was an error of the solver's, and is counted as taken back.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../support"))
from seed import test_seed


def solver_commands(timeout):
    return {
        "z3": ["z3", "-in", f"-t:{timeout}"],
        "cvc5": ["cvc5", "--incremental", "--strings-exp", f"--tlimit-per={timeout}", "--quiet", "--lang=smt2"],
    }


def talk(command, text, most=20):
    """What it prints; of a solver that does not keep to its own limit, what it printed until then."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=most)
        return done.stdout, done.stderr
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(errors="replace"), ""


def ask(command, instances, chunk=100):
    """One verdict an instance. A solver that dies is asked about what was left, without the one it died of."""
    verdicts = []
    while len(verdicts) < len(instances):
        batch = instances[len(verdicts):][:chunk]
        text = "(set-option :global-declarations false)\n(set-logic ALL)\n" if command[0] == "cvc5" else ""
        for _, _, formula in batch:
            body = " ".join(p for p in [formula] if p)
            text += f"(push 1)\n{body}\n(check-sat)\n(pop 1)\n(echo \"--\")\n"
        output, errors = talk(command, text)
        parts = output.replace('"--"', "--").split("--\n")
        for part in parts[:-1]:
            lines = part.split("\n")
            wrong = [line for line in lines if line.startswith("(error")]
            verdicts.append("error: " + wrong[0] if wrong else next((v for v in lines if v in ("sat", "unsat", "unknown")), "unknown"))
        if len(parts) - 1 < len(batch):
            left = (parts[-1] + errors).strip().split("\n")[0]
            verdicts.append("error: " + left if "rror" in left else "unknown")
    return verdicts


def instances_of(program, *args):
    out = subprocess.run([program, *args], capture_output=True, text=True, check=True)
    if out.stderr:
        print("# " + out.stderr.strip().replace("\n", "\n# "))
    return [line.split("\t", 2) for line in out.stdout.splitlines()]


def ask_alone(command, formula, most=20):
    """Another process, nothing pushed: not what a solver makes of what it was asked before."""
    text = ("(set-logic ALL)\n" if command[0] == "cvc5" else "") + formula + "\n(check-sat)\n"
    return talk(command, text, most)[0].split("\n")[0]


ROUND = 100
KINDS = ["unsat", "sat", "taken back", "unknown", "error"]


def rounds_of(program, count, seed, rules):
    """Lists of instances that were not there before; a rule that brings none in a round has no more."""
    seen, made, over = set(), collections.Counter(), set()
    for n in range(3 * count // ROUND + 1):
        fresh, size = [], min(ROUND, count)
        for instance in instances_of(program, str(size), str(seed + 1000 * n), *rules):
            rule, formula = instance[0], hash(tuple(instance))
            if made[rule] < count and formula not in seen:
                seen.add(formula)
                made[rule] += 1
                fresh.append(instance)
        left = [rule for rule in made if made[rule] < count and rule not in over]
        over |= set(left) - {i[0] for i in fresh}
        if fresh:
            yield fresh
        rules = [rule for rule in left if rule not in over]
        if not rules:
            return


def write_table(path, solvers, counts):
    """counts[rule][solver, kind]"""
    rows = ["rule\tinstances\t" + "\t".join(f"{s} {k}" for s in solvers for k in KINDS)]
    total = collections.Counter()
    for rule in [*counts, "all"]:
        c = counts.get(rule, total)
        rows.append(f"{rule}\t{c['asked']}\t" + "\t".join(str(c[s, k]) for s in solvers for k in KINDS))
        if c is not total:
            total.update(c)
    with open(path, "w") as f:
        f.write("\n".join(rows) + "\n")


class Answers:
    """What each solver said of the instances."""

    def __init__(self, solvers, table):
        self.solvers, self.table = solvers, table
        self.rules, self.wrong, self.errors = {}, {name: [] for name in solvers}, {name: {} for name in solvers}

    def ask(self, instances):
        for instance in instances:
            self.rules.setdefault(instance[0], collections.Counter())["asked"] += 1
        for name, command in self.solvers.items():
            for instance, verdict in zip(instances, ask(command, instances)):
                if verdict == "sat" and ask_alone(command, instance[2]) != "sat":
                    verdict = "taken back"
                self.rules[instance[0]][name, verdict.split(":")[0]] += 1
                if verdict == "sat":
                    self.wrong[name].append(instance)
                elif verdict == "taken back":
                    print(f"# {name} says sat behind others, and not when asked by itself: {instance[2]}", flush=True)
                elif verdict.startswith("error"):
                    self.errors[name][instance[0]] = verdict
        if self.table:
            write_table(self.table, self.solvers, self.rules)

    def count(self, name, kind):
        return sum(c[name, kind] for c in self.rules.values())

    def n(self):
        return sum(c["asked"] for c in self.rules.values())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--formulas", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--timeout", type=int, default=500)
    p.add_argument("--table")
    p.add_argument("program")
    p.add_argument("rules", nargs="*")
    o = p.parse_args()
    o.seed = test_seed(o.seed)
    solvers = {name: c for name, c in solver_commands(o.timeout).items() if shutil.which(name)}
    if not solvers:
        print("1..0 # SKIP neither z3 nor cvc5 is installed")
        return 0
    rules = o.rules or [line[0] for line in instances_of(o.program, "--list")]
    answers = Answers(solvers, o.table)
    for instances in rounds_of(o.program, o.count, o.seed, o.rules):
        answers.ask(instances)
    if o.formulas:
        answers.ask(instances_of(o.program, "--formulas", str(o.formulas), str(o.seed)))
    wrong = instances_of(o.program, "--wrong", str(min(max(o.count, 20), ROUND)), str(o.seed))
    print(f"1..{3 * len(solvers) + 1}")
    n, failed = 1, False

    def result(ok, what):
        nonlocal n, failed
        print(f"{'ok' if ok else 'not ok'} {n} - {what}", flush=True)
        failed |= not ok
        n += 1

    unseen = sorted(set(rules) - set(answers.rules))
    for name in unseen:
        print(f"# no instance of {name}")
    result(not unseen, f"all {len(rules)} rules have instances")
    for name, command in solvers.items():
        for rule, direction, formula in answers.wrong[name][:20]:
            print(f"# {rule} {direction}: {formula}")
        for rule, error in list(answers.errors[name].items())[:15]:
            print(f"# {rule}: {error}")
        print(f"# {name}: " + ", ".join(f"{answers.count(name, kind)} {kind}" for kind in KINDS))
        result(not answers.wrong[name], f"{name} refutes none of {answers.n()} steps")
        result(2 * answers.count(name, "unsat") > answers.n(), f"{name} proves most of them")
        caught = {i[0] for i, v in zip(wrong, ask(command, wrong)) if v == "sat"}
        left = sorted({i[0] for i in wrong} - caught)
        for rule in left:
            print(f"# {rule} was not refuted")
        result(not left and caught, f"{name} refutes {len(caught)} rules that do not hold")
    return failed


sys.exit(main())
