#!/usr/bin/env python3
"""Asks solvers whether a rule of weakening does not hold: "stronger and not weaker" is never to be sat.

    tests/weaken/prove.py [--count N] [--formulas N] [--seed N] [--timeout MS] PROVE [RULE ...]

PROVE is the program built from prove.c. Rules that do not hold are tried as well and must be refuted. Uses what there is of z3 and cvc5.
Prints TAP, and for each solver how many answers there were of each kind.
"""
import argparse
import collections
import shutil
import subprocess
import sys


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


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--formulas", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--timeout", type=int, default=500)
    p.add_argument("program")
    p.add_argument("rules", nargs="*")
    o = p.parse_args()
    solvers = {name: c for name, c in solver_commands(o.timeout).items() if shutil.which(name)}
    if not solvers:
        print("1..0 # SKIP neither z3 nor cvc5 is installed")
        return 0
    rules = o.rules or instances_of(o.program, "--list")
    rules = [r[0] if isinstance(r, list) else r for r in rules]
    instances = instances_of(o.program, str(o.count), str(o.seed), *o.rules)
    if o.formulas:
        instances += instances_of(o.program, "--formulas", str(o.formulas), str(o.seed))
    wrong = instances_of(o.program, "--wrong", str(max(o.count, 20)), str(o.seed))
    print(f"1..{3 * len(solvers) + 1}")
    n, failed = 1, False

    def result(ok, what):
        nonlocal n, failed
        print(f"{'ok' if ok else 'not ok'} {n} - {what}", flush=True)
        failed |= not ok
        n += 1

    unseen = sorted(set(rules) - {i[0] for i in instances})
    for name in unseen:
        print(f"# no instance of {name}")
    result(not unseen, f"all {len(rules)} rules have instances")
    for name, command in solvers.items():
        kinds, wrongly = collections.Counter(), []
        for instance, verdict in zip(instances, ask(command, instances)):
            kinds[verdict.split(":")[0]] += 1
            if verdict == "sat":
                wrongly.append(instance)
            elif verdict.startswith("error"):
                kinds["example: " + instance[0] + " " + verdict] = kinds.get("example: " + instance[0] + " " + verdict, 0) + 1
        for rule, direction, formula in wrongly[:20]:
            print(f"# {rule} {direction}: {formula}")
        for kind in [k for k in kinds if k.startswith("example")][:15]:
            print("# " + kind)
        print("# " + name + ": " + ", ".join(f"{v} {k}" for k, v in sorted(kinds.items()) if not k.startswith("example")))
        result(not wrongly, f"{name} refutes none of {len(instances)} steps")
        result(2 * kinds["unsat"] > len(instances), f"{name} proves most of them")
        caught = {i[0] for i, v in zip(wrong, ask(command, wrong)) if v == "sat"}
        left = sorted({i[0] for i in wrong} - caught)
        for rule in left:
            print(f"# {rule} was not refuted")
        result(not left and caught, f"{name} refutes {len(caught)} rules that do not hold")
    return failed


sys.exit(main())
