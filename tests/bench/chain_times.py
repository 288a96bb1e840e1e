#!/usr/bin/env python3
"""How long solvers take on formulas that were made weaker or stronger again and again.

    tests/bench/chain_times.py [--steps 0,1,10,100] [--timeout SECONDS] MUTANTS SOLVER=COMMAND... -- FILE...

MUTANTS is the program built from mutants.c, FILEs begin with sat or unsat. Prints a table: a line for each step, with the average seconds of CPU
time of each solver. A file on which a solver's time is over at any of the steps, or which it cannot read, does not count for that solver.
"""
import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile


def cpu_seconds(command, path, limit):
    """CPU time of the run, or None: no answer within `limit` seconds of it."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))

    process = subprocess.Popen([*command, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limits)
    answer = process.stdout.read().split(b"\n")[0]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    return seconds if answer in (b"sat", b"unsat", b"unknown") and seconds <= limit else None


def times_of(command, folder, name, steps, limit):
    """By step; None where one of them is missing."""
    times = []
    for step in steps:
        path = os.path.join(folder, f"{name}.{step}.smt2")
        seconds = cpu_seconds(command, path, limit) if os.path.exists(path) else None
        if seconds is None:
            return None
        times.append(seconds)
    return times


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", default="0,1,2,5,10,20,30,40,50,60,70,80,90,100")
    p.add_argument("--timeout", type=float, default=8)
    p.add_argument("mutants")
    p.add_argument("solvers", nargs="+", metavar="SOLVER=COMMAND")
    at = sys.argv.index("--")
    o, files = p.parse_args(sys.argv[1:at]), sys.argv[at + 1:]
    steps = [int(s) for s in o.steps.split(",")]
    solvers = [s.split("=", 1) for s in o.solvers]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([o.mutants, "--write", folder, str(max(steps)), *files], check=True)
        averages = {}
        for solver, command in solvers:
            times = [times_of(shlex.split(command), folder, os.path.basename(f), steps, o.timeout) for f in files]
            times = [t for t in times if t]
            averages[solver] = (len(times), [sum(column) / len(times) for column in zip(*times)])
    print("| steps | " + " | ".join(s for s, _ in solvers) + " |")
    print("|---|" + "---|" * len(solvers))
    for i, step in enumerate(steps):
        print(f"| {step} | " + " | ".join(f"{averages[s][1][i]:.3f}" if averages[s][0] else "-" for s, _ in solvers) + " |")
    print("| files of " + str(len(files)) + " | " + " | ".join(str(averages[s][0]) for s, _ in solvers) + " |")


main()
