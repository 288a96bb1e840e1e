#!/usr/bin/env python3
"""Do solvers answer the same on a file and on what `smt2 print` makes of it?

    tests/smtlib/roundtrip.py SMT2 FOLDER [SECONDS [SOLVER...]]

SMT2 is build/tests/smtlib/smt2, FOLDER is searched for .smt2 files, SECONDS (10) is the limit for the original; what is printed gets
three times as long, both of processor time. A solver is a command that takes a file; z3 and cvc5 are the default. Files a solver does not read or decide are
counted, not compared. Prints a line for each difference and a summary; the exit status is 1 when there was any.
"""
import pathlib
import subprocess
import sys
import tempfile


def answers(command, path, seconds):
    limit = ["prlimit", f"--cpu={seconds}", "--"]
    r = subprocess.run(limit + command.split() + [str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if r.returncode < 0:
        return None
    lines = [line for line in r.stdout.decode(errors="replace").split("\n") if line]
    if any("error" in line.lower() for line in lines):
        return ["error"]
    return [line for line in lines if line in ("sat", "unsat", "unknown")]


def main():
    smt2, folder = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    solvers = sys.argv[4:] or ["z3", "cvc5 --strings-exp"]
    files = sorted(pathlib.Path(folder).rglob("*.smt2"))
    count = {s: dict(same=0, different=0, undecided=0) for s in solvers}
    unread = 0
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            printed = pathlib.Path(scratch) / "printed.smt2"
            with open(printed, "wb") as out:
                if subprocess.run([smt2, "print", str(file)], stdout=out).returncode != 0:
                    unread += 1
                    print(f"{file}: not read")
                    continue
            for solver in solvers:
                a = answers(solver, file, seconds)
                if not a or a == ["error"] or "unknown" in a:
                    count[solver]["undecided"] += 1
                    continue
                b = answers(solver, printed, 3 * seconds)
                if a == b:
                    count[solver]["same"] += 1
                else:
                    count[solver]["different"] += 1
                    print(f"{file}: {solver}: {' '.join(a)} became {' '.join(b) if b else 'nothing in time'}", flush=True)
    print(f"{len(files)} files, {unread} not read")
    for solver, c in count.items():
        print(f"{solver}: {c['same']} the same, {c['different']} different, {c['undecided']} not read or decided in {seconds} s")
    return unread > 0 or any(c["different"] for c in count.values())


if __name__ == "__main__":
    sys.exit(main())
