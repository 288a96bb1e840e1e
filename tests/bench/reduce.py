#!/usr/bin/env python3
"""solverfs reduce beside ddSMT 2 on the same inputs, with the same interest test (tests/bench/slow.c), in turn.

    tests/bench/reduce.py --solverfs build/tools/solverfs --slow build/tests/bench/slow --ddsmt DDSMT/bin/ddsmt [--floor 0.2] [--ratio 3]
                          [--most 900] [--jobs 2] [--cpus 0,1] LIST

A line of LIST is a file, a reference and a target, separated by tabs: the versions are commands with whole paths. Both reducers run on the same
cores, one after the other, each for at most --most seconds. Prints a row for each input and the medians. Time is CPU time of the reducer and of
all it ran (on a machine with other load that is what can be compared; "-" when it was stopped), and wall time. An input that is not
slow when a reducer begins is left out and named.
"""
import argparse
import os
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time


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
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, None if stopped else cpu, p.returncode


def size(path, otherwise):
    return os.path.getsize(path) if os.path.exists(path) and os.path.getsize(path) > 0 else otherwise


def compare(o, file, reference, target, folder):
    test = [o.slow, str(o.floor), str(o.ratio), reference, target]
    ours, theirs = os.path.join(folder, "ours.smt2"), os.path.join(folder, "theirs.smt2")
    before = os.path.getsize(file)
    if subprocess.run(test + [file], cwd=folder, check=False).returncode != 0:
        print(f"{file}: not slow here", file=sys.stderr)
        return None
    for path in (ours, theirs):
        if os.path.exists(path):
            os.unlink(path)
    command = " ".join(shlex.quote(word) for word in test) + " {}"
    one = run([o.solverfs, "-q", "reduce", file, "--command", command, "-j", str(o.jobs), "--for", f"{o.most}s", "--timeout", "60s",
               "-o", ours], o.cpus, o.most + 60, folder)
    two = run([sys.executable, o.ddsmt, "-j", str(o.jobs), "--ignore-output", "--timeout", "60", file, theirs] + test, o.cpus, o.most,
              folder)
    if one[1] is not None and one[2] != 0:
        print(f"{file}: not slow when it was run again", file=sys.stderr)
        return None
    return before, size(ours, before), size(theirs, before), one[1], two[1], one[0], two[0]


def seconds(x):
    return "-" if x is None else f"{x:.1f}"


def median_ratio(rows, one, other):
    ratios = [r[one] / r[other] for r in rows if r[one] is not None and r[other]]
    return f"{statistics.median(ratios):.2f} ({len(ratios)} inputs)" if ratios else "unknown"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("list")
    p.add_argument("--solverfs", required=True, type=os.path.abspath)
    p.add_argument("--slow", required=True, type=os.path.abspath)
    p.add_argument("--ddsmt", type=os.path.abspath)
    p.add_argument("--floor", type=float, default=0.2)
    p.add_argument("--ratio", type=float, default=3)
    p.add_argument("--most", type=int, default=900)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--cpus", type=lambda text: {int(n) for n in text.split(",")}, default=os.sched_getaffinity(0))
    o = p.parse_args()
    if not o.ddsmt or not os.path.exists(o.ddsmt):
        print("skipped: name ddSMT's program with --ddsmt (github.com/ddsmt/ddSMT, bin/ddsmt of a checkout)")
        return
    rows = []
    print("input\tbytes\tours\tddsmt\tours-cpu\tddsmt-cpu\tours-wall\tddsmt-wall", flush=True)
    with tempfile.TemporaryDirectory() as folder, open(o.list, encoding="utf-8") as lines:
        for line in lines:
            file, reference, target = line.rstrip("\n").split("\t")
            row = compare(o, os.path.abspath(file), reference, target, folder)
            if row:
                rows.append(row)
                print(os.path.basename(file), *row[:3], *map(seconds, row[3:]), sep="\t", flush=True)
    if rows:
        print(f"{len(rows)} inputs, medians: {statistics.median(r[0] for r in rows):.0f} bytes; ours {statistics.median(r[1] for r in rows):.0f}, "
              f"ddSMT {statistics.median(r[2] for r in rows):.0f}; ratios: size {median_ratio(rows, 1, 2)}, "
              f"CPU time {median_ratio(rows, 3, 4)}, wall time {median_ratio(rows, 5, 6)}")


main()
