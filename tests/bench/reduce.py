#!/usr/bin/env python3
"""solverfs reduce beside ddSMT 2 on the same inputs, with the same interest tests, in turn.

    tests/bench/reduce.py --solverfs build/tools/solverfs --ddsmt DDSMT/bin/ddsmt [--most 900] [--jobs 2] [--cpus 0,1] [--keep FOLDER] LIST

A line of LIST is a name, a file and a command for the shell with the file as "$1", separated by tabs (tests/bench/reduce_inputs.py makes such lists). The
command ends with 0 for what is interesting. Both reducers run on the same cores, one after the other, each for at most --most seconds. Prints a row for
each input, medians and quartiles. Size is the bytes of the result (both shorten names), and its atoms: the names and literals, which no name makes
shorter. Time is CPU time of the reducer and of all it ran (on a machine with other load that is what can be compared; "-" when it was stopped), and wall
time; tests are how often the command ran. A result that the command is not interested in is marked with "!".
"""
import argparse
import ctypes
import os
import re
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TIMEOUT = 10  # seconds of one test, for both
PR_SET_CHILD_SUBREAPER = 36


def reap_orphans():
    """Waits for the tests that a reducer killed and did not wait for: they are ours then, and only what was waited for has its CPU time counted."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def run(argv, cpus, most, cwd):
    """Wall and CPU seconds of a command and all that it waited for; CPU None when it was stopped, as it waited for nothing then."""
    stopped = False
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    p = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    try:
        p.wait(timeout=most)
    except subprocess.TimeoutExpired:
        stopped = True
        os.killpg(p.pid, signal.SIGINT)
        try:
            p.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
    reap_orphans()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, None if stopped else cpu


def atoms(text):
    return len(re.findall(r'"(?:[^"]|"")*"|\|[^|]*\||[^\s()"|]+', text))


def reduce_with(o, which, file, command, folder):
    """The row of one reducer: bytes, atoms, CPU seconds, wall seconds, tests, whether the result is interesting."""
    test, calls, result = (os.path.join(folder, name) for name in ("test", "calls", which + ".smt2"))
    with open(test, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\necho >>{shlex.quote(calls)}\n{command}\n")
    os.chmod(test, 0o700)
    for path in (calls, result):
        if os.path.exists(path):
            os.unlink(path)
    if which == "ours":
        argv = [o.solverfs, "-q", "reduce", file, "--command", shlex.quote(test) + " {}", "-j", str(o.jobs), "--for", f"{o.most}s",
                "--timeout", f"{TIMEOUT}s", "-o", result]
    else:
        argv = [sys.executable, o.ddsmt, "-j", str(o.jobs), "--ignore-output", "--timeout", str(TIMEOUT), file, result, test]
    wall, cpu = run(argv, o.cpus, o.most + (60 if which == "ours" else 0), folder)
    with open(calls, "rb") as f:
        n = len(f.read())
    if not os.path.exists(result) or os.path.getsize(result) == 0:
        result = file
    with open(result, encoding="utf-8") as f:
        text = f.read()
    is_good = subprocess.run([test, result], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
    return {"bytes": len(text.encode()), "atoms": atoms(text), "cpu": cpu, "wall": wall, "tests": n, "good": is_good}


def shown(row):
    cpu = "-" if row["cpu"] is None else f"{row['cpu']:.1f}"
    return f"{row['bytes']}{'' if row['good'] else '!'}", str(row["atoms"]), cpu, f"{row['wall']:.1f}", str(row["tests"])


def quartiles(rows, key):
    ratios = [a[key] / b[key] for a, b in rows if a[key] is not None and b[key]]
    if len(ratios) < 2:
        return f"{key} unknown"
    q = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{key} {q[1]:.2f} ({q[0]:.2f} to {q[2]:.2f}; {len(ratios)} inputs)"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("list")
    p.add_argument("--solverfs", required=True, type=os.path.abspath)
    p.add_argument("--ddsmt", type=os.path.abspath)
    p.add_argument("--most", type=int, default=900)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--cpus", type=lambda text: {int(n) for n in text.split(",")}, default=os.sched_getaffinity(0))
    p.add_argument("--keep", type=os.path.abspath)
    o = p.parse_args()
    if not o.ddsmt or not os.path.exists(o.ddsmt):
        print("skipped: name ddSMT's program with --ddsmt (github.com/ddsmt/ddSMT, bin/ddsmt of a checkout)")
        return
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("orphans cannot be waited for: " + os.strerror(ctypes.get_errno()))
    rows = []
    columns = ("bytes", "atoms", "cpu", "wall", "tests")
    print("input", "bytes", *(f"{who}-{what}" for what in columns for who in ("ours", "ddsmt")), sep="\t", flush=True)
    with open(o.list, encoding="utf-8") as lines:
        for line in lines:
            name, file, command = line.rstrip("\n").split("\t")
            with tempfile.TemporaryDirectory() as folder:
                pair = [reduce_with(o, which, file, command, folder) for which in ("ours", "ddsmt")]
                if o.keep:
                    for which in ("ours", "ddsmt"):
                        path = os.path.join(folder, which + ".smt2")
                        if os.path.exists(path):
                            subprocess.run(["cp", path, os.path.join(o.keep, f"{name}-{len(rows)}-{which}.smt2")], check=True)
            rows.append(pair)
            print(name, os.path.getsize(file), *(x for two in zip(*map(shown, pair)) for x in two), sep="\t", flush=True)
    print("ours over ddSMT's, medians and quartiles: " + "; ".join(quartiles(rows, key) for key in columns))


main()
