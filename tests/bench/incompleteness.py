#!/usr/bin/env python3
"""A campaign for unknowns beside its two solvers alone, fed with the same inputs.

    tests/bench/incompleteness.py [--most SECONDS] [--seeds N] [--iterations N] [--rounds N] [--jobs N] SOLVERFS REFERENCE TARGET FILE...

REFERENCE and TARGET are commands of solvers; FILEs are seeds, of which the first N count that both decide within --most seconds of CPU time.
First a campaign whose solvers note what they are given. Then, in turns: the campaign as it is; the one that runs both on every mutant (--pairs any); and both
solvers alone on what was noted. Prints a line for each: mutants, seconds and mutants a second, by the clock on the wall and of CPU time (of all that it
started); last the ratios to the solvers alone.
"""
import argparse
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

RECIPE = "[solver]\n\tformat = smt2\n\tbuild = true\n\toutput = f\n\trun = {bin} {case}\n\ttimeout = 10s\n\tsamples = 1\n"
NOTING = """#!/bin/sh
for case; do :; done
n=$(($(cat {folder}/last) + 1))
echo $n >{folder}/last
cp "$case" {folder}/$n.{side}.smt2
exec {command} "$@"
"""


def cpu():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def measured(work):
    """What it returned, its seconds on the wall and of CPU time."""
    wall, used = time.monotonic(), cpu()
    result = work()
    return result, time.monotonic() - wall, cpu() - used


def run_solver(command, path):
    return subprocess.run([*command, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def run_briefly(command, path):
    """Cut off behind a second of CPU time."""
    return subprocess.run([*command, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1))).stdout


def is_quick(commands, path, most):
    for command in commands:
        answer, _, seconds = measured(lambda: run_briefly(command, path))
        if answer.split(b"\n")[0] not in (b"sat", b"unsat") or seconds > most:
            return False
    return True


class Bench:
    def __init__(self, options, folder):
        self.o, self.folder = options, folder
        self.commands = [shlex.split(options.reference), shlex.split(options.target)]
        os.mkdir(folder + "/seeds")
        os.mkdir(folder + "/inputs")
        os.mkdir(folder + "/repo")
        with open(folder + "/recipe", "w") as f:
            f.write(RECIPE)
        git = ["git", "-C", folder + "/repo", "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "none"], check=True)

    def take_seeds(self, files):
        n = 0
        for path in files:
            if n < self.o.seeds and is_quick(self.commands, path, self.o.most):
                n += 1
                shutil.copy(path, self.folder + "/seeds")
        if n == 0:
            sys.exit(f"no seed is decided by both within {self.o.most} s")
        return n

    def solverfs(self, store, *args):
        done = subprocess.run([self.o.solverfs, "-q", *args], env={**os.environ, "SOLVERFS_STORE": f"{self.folder}/{store}"},
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout

    def make_store(self, store, settings=""):
        self.solverfs(store, "init")
        with open(f"{self.folder}/{store}/config", "a") as f:
            f.write(settings)
        self.solverfs(store, "solver", "add", "bench", self.folder + "/repo", "--recipe", self.folder + "/recipe")

    def campaign(self, store, versions, pairs, jobs):
        """Its mutants."""
        out = self.solverfs(store, "incompleteness", "bench", "--reference", "exec:" + versions[0], "--target", "exec:" + versions[1],
                            "--seeds", self.folder + "/seeds", "--for", "10h", "--iterations", str(self.o.iterations), "-j", str(jobs),
                            "--clock", "cpu", "--timeout", "10s", "--no-localize", "--no-reduce", "--pairs", pairs, "--name", pairs)
        return int(next(line.split()[1] for line in out.splitlines() if line.startswith("mutants ")))

    def note_inputs(self):
        versions = []
        for side, command in zip(("reference", "target"), self.commands):
            path = f"{self.folder}/{side}"
            with open(path, "w") as f:
                f.write(NOTING.format(folder=self.folder + "/inputs", side=side, command=shlex.quote(command[0])))
            os.chmod(path, 0o755)
            versions.append(shlex.join([path, *command[1:]]))
        with open(self.folder + "/inputs/last", "w") as f:
            f.write("0\n")
        self.make_store("noting", "[solverfs]\n\tsandbox = none\n")
        mutants = self.campaign("noting", versions, "any", 1)
        names = [n for n in os.listdir(self.folder + "/inputs") if n.endswith(".smt2")]
        self.inputs = sorted(names, key=lambda n: int(n.split(".")[0]))
        return mutants

    def feed(self):
        for name in self.inputs:
            run_solver(self.commands[name.endswith(".target.smt2")], f"{self.folder}/inputs/{name}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--most", type=float, default=0.02)
    p.add_argument("--seeds", type=int, default=10)
    p.add_argument("--iterations", type=int, default=25)
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--jobs", type=int, default=1, help="of the campaigns; the solvers alone run one at a time")
    p.add_argument("solverfs")
    p.add_argument("reference")
    p.add_argument("target")
    p.add_argument("files", nargs="+")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(o, folder)
        n = b.take_seeds(o.files)
        noted = b.note_inputs()
        print(f"{n} seeds, {noted} mutants, {len(b.inputs)} runs; load {os.getloadavg()[0]:.1f}", flush=True)
        sums = {"campaign": [0, 0, 0], "both on every mutant": [0, 0, 0], "solvers alone": [0, 0, 0]}
        for i in range(o.rounds):
            b.make_store(f"store{i}")
            versions = [o.reference, o.target]
            for what, work in (("campaign", lambda: b.campaign(f"store{i}", versions, "target", o.jobs)),
                               ("both on every mutant", lambda: b.campaign(f"store{i}", versions, "any", o.jobs)), ("solvers alone", b.feed)):
                mutants, wall, used = measured(work)
                mutants = noted if mutants is None else mutants
                for k, x in enumerate((mutants, wall, used)):
                    sums[what][k] += x
                print(f"{what}\t{mutants} mutants\twall {wall:.2f} s, {mutants / wall:.1f} a second\tCPU {used:.2f} s, {mutants / used:.1f} a second",
                      flush=True)
        rates = {what: (s[0] / s[1], s[0] / s[2]) for what, s in sums.items()}
        for what in list(sums)[:2]:
            ratio = [a / b for a, b in zip(rates[what], rates["solvers alone"])]
            print(f"{what} / solvers alone: wall {ratio[0]:.3f}, CPU {ratio[1]:.3f}; load {os.getloadavg()[0]:.1f}")


main()
