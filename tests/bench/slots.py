#!/usr/bin/env python3
"""What a run and a build cost each other: short runs of one store beside builds of others that have every core.

    slots.py [--runs N] [--rounds N] [--units N] SOLVERFS

A build per core, each of its own store, compiles C files from nothing. Beside them N commands `solverfs run` measure a program that computes for 50 ms,
one after the other, as a person's shell loop does. Printed:

  answer  seconds from the command's start to its end, beyond the run's own time; the same without any build
  time    the run's time beside builds over that beside one busy core: rounds in turn, with a build on every core and with none on the run's own;
          the median of the ratios of the rounds' medians and its 95 % interval, of wall-clock time and of CPU time
  lost    of the time that a build had a core: neither its own nor a run's, by a look at the locks each millisecond
  build   seconds that a build took alone, and beside runs, and for how long these had its core

Times want a machine with nothing else to do; "lost" does not.
"""
import argparse, fcntl, json, os, random, shutil, statistics, struct, subprocess, sys, tempfile, threading, time

RUN, BUILD, MOVES = 0, 1, 2

SPIN = """
#include <stdio.h>
#include <time.h>
int main(void)
{
	struct timespec t;
	volatile unsigned long n = 0;
	do {
		for (int i = 0; i < 100000; i++) n += n ^ (unsigned long)i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec == 0 && t.tv_nsec < 50000000);
	puts("sat");
	return 0;
}
"""
# A fixed amount of work, for times; SPIN takes 50 ms wherever it is.
WORK = SPIN.replace("clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);\n\t} while (t.tv_sec == 0 && t.tv_nsec < 50000000);",
                    "} while (++rounds < %d);").replace("struct timespec t;", "int rounds = 0;")
UNIT = "static unsigned long f%d(unsigned long x) { for (int i = 0; i < %d; i++) x = (x << 3) ^ (x >> 5) + %d; switch (x & 7) { case 1: return x * %d; case 3: return x + 7; default: return x; } }\n"


def shell(command, **more):
    done = subprocess.run(command, shell=isinstance(command, str), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.exit("%s: %s\n%s" % (command, done.returncode, done.stdout.decode(errors="replace")))
    return done.stdout.decode()


def commit(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    shell("git init -q -b main . 2>/dev/null; git add -A && git -c user.name=b -c user.email=b@localhost commit -q -m next", cwd=folder)


class Bench:
    def __init__(self, options):
        self.o, self.top, self.n = options, tempfile.mkdtemp(prefix="solverfs-slots-"), 0
        self.slots = os.path.join(self.top, "slots")
        self.cpus = sorted(os.sched_getaffinity(0))
        self.rng = random.Random(time.time_ns())
        os.environ.update(HOME=self.top, SOLVERFS_SLOTS=self.slots, GIT_CONFIG_NOSYSTEM="1", LC_ALL="C.UTF-8")
        self.builders = {}
        self.prepare()

    def solverfs(self, store, *words, cpus=None, **more):
        at = ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
        return at + [self.o.solverfs, *words, "--store", os.path.join(self.top, store)]

    def store(self, name, solver, files, recipe):
        repository = os.path.join(self.top, solver + "-repository")
        commit(repository, files)
        with open(os.path.join(self.top, solver + ".recipe"), "w") as f:
            f.write("[solver]\n\tformat = smt2\n\tsamples = 1\n" + recipe)
        if not os.path.exists(os.path.join(self.top, name)):
            shell(self.solverfs(name, "init", "-q"))
        shell(self.solverfs(name, "solver", "add", "-q", "--recipe", os.path.join(self.top, solver + ".recipe"), solver, repository))

    def prepare(self):
        seed = "\tbuild = cc -O1 -o p p.c\n\toutput = p\n\trun = {bin} {seed} {case}\n\tseed = {n}\n"
        self.store("runs", "spin", {"p.c": SPIN}, seed)
        self.store("runs", "work", {"p.c": WORK % 300}, seed)
        with open(os.path.join(self.top, "a.smt2"), "w") as f:
            f.write("(check-sat)\n")
        shell(self.solverfs("runs", "case", "add", "-q", os.path.join(self.top, "a.smt2")))
        shell(self.solverfs("runs", "build", "-q", "spin", "HEAD"))
        shell(self.solverfs("runs", "build", "-q", "work", "HEAD"))
        for cpu in self.cpus:
            name = "heavy%d" % cpu
            self.store(name, name, self.units(self.o.units), "\tbuild = make -s -j{jobs}\n\toutput = all\n\trun = {bin} {case}\n")

    def units(self, n):
        files = {"Makefile": "all: $(patsubst %.c,%.o,$(wildcard *.c))\n\tcat $^ >$@\n%.o: %.c\n\tcc -O2 -c -o $@ $<\n"}
        for i in range(n):
            files["u%d.c" % i] = "".join(UNIT % (k, self.rng.randrange(9, 99), self.rng.randrange(1 << 30), self.rng.randrange(1 << 30)) for k in range(60)) + \
                "unsigned long g%d(unsigned long x) { return %s; }\n" % (i, " + ".join("f%d(x)" % k for k in range(60)))
        return files

    # -- builds --

    def begin_build(self, cpu):
        name = "heavy%d" % cpu
        commit(os.path.join(self.top, name + "-repository"), self.units(self.o.units))
        shell(self.solverfs(name, "solver", "update", "-q", name))
        self.builders[cpu] = subprocess.Popen(self.solverfs(name, "build", "-q", name, "HEAD", cpus=[cpu]), stdout=subprocess.DEVNULL)
        while not self.is_held(cpu, MOVES) and not self.is_held(cpu, RUN):
            time.sleep(.01)

    def end_build(self, cpu):
        p = self.builders.pop(cpu)
        p.terminate()
        p.wait()

    def keep_building(self):
        for cpu in self.cpus:
            if cpu in self.builders and self.builders[cpu].poll() is not None:
                del self.builders[cpu]
            if cpu not in self.builders:
                self.begin_build(cpu)

    def is_held(self, cpu, byte):
        try:
            with open(os.path.join(self.slots, "cpu%d" % cpu), "rb") as f:
                # struct flock: l_type, l_whence, l_start, l_len, l_pid
                got = fcntl.fcntl(f, 36, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, byte, 1, 0))  # F_OFD_GETLK
                return struct.unpack("hhqqi4x", got)[0] != fcntl.F_UNLCK
        except FileNotFoundError:
            return False

    # -- runs --

    def run(self, solver):
        self.n += 1
        begun = time.monotonic()
        text = shell(self.solverfs("runs", "run", "-q", "--json", solver, "HEAD", "1", "--seed", str(self.n)))
        took, o = time.monotonic() - begun, json.loads(text)
        return took, o["time"], o["cputime"]

    def answers(self):
        rows = {}
        for what in ("without builds", "beside builds"):
            beyond = []
            for _ in range(self.o.runs):
                if what == "beside builds":
                    self.keep_building()
                took, own, _ = self.run("spin")
                beyond.append(took - own)
            rows[what] = beyond
            print("answer  %-15s median %.3f s, most %.3f s beyond the run's own time, of %d" % (what, statistics.median(beyond), max(beyond), len(beyond)), flush=True)

    def times(self):
        own, other = self.cpus[0], self.cpus[-1]
        walls, cpus = [], []
        for k in range(self.o.rounds):
            got = {}
            for with_build in ((True, False) if k % 2 else (False, True)):
                if other not in self.builders or self.builders[other].poll() is not None:
                    self.begin_build(other)
                if with_build:
                    self.begin_build(own)
                samples = [self.run("work")[1:] for _ in range(10)]
                if with_build:
                    self.end_build(own)
                got[with_build] = [statistics.median(s[i] for s in samples) for i in (0, 1)]
            walls.append(got[True][0] / got[False][0])
            cpus.append(got[True][1] / got[False][1])
        for what, ratios in (("wall-clock", walls), ("CPU", cpus)):
            means = sorted(statistics.median(self.rng.choices(ratios, k=len(ratios))) for _ in range(2000))
            print("time    %-10s beside builds over beside one busy core: %.4f (95 %%: %.4f to %.4f), %d rounds" %
                  (what, statistics.median(ratios), means[50], means[-51], len(ratios)), flush=True)

    def losses(self):
        counts, stop = {"all": 0, "run": 0, "moves": 0, "none": 0}, threading.Event()

        def look():
            while not stop.is_set():
                for cpu in self.cpus:
                    if not self.is_held(cpu, BUILD):
                        continue
                    run, moves = self.is_held(cpu, RUN), self.is_held(cpu, MOVES)
                    counts["all"] += 1
                    counts["run" if run else "moves" if moves else "none"] += 1
                time.sleep(.001)

        self.keep_building()
        time.sleep(1)
        thread = threading.Thread(target=look)
        thread.start()
        end = time.monotonic() + 20
        while time.monotonic() < end and all(p.poll() is None for p in self.builders.values()):
            self.run("spin")
            time.sleep(.3)
        stop.set()
        thread.join()
        print("lost    %.2f %% of the builds' time is neither theirs nor a run's; runs had %.1f %% (%d looks)" %
              (100 * counts["none"] / counts["all"], 100 * counts["run"] / counts["all"], counts["all"]), flush=True)

    def whole_builds(self):
        for cpu in list(self.builders):
            self.end_build(cpu)
        cpu, took = self.cpus[0], {}
        for beside in (False, True):
            self.begin_build(cpu)
            begun, had = time.monotonic(), 0
            while self.builders[cpu].poll() is None:
                if beside:
                    before = time.monotonic()
                    shell(self.solverfs("runs", "run", "-q", "spin", "HEAD", "1", "--seed", str(self.n), cpus=[cpu]))
                    had += time.monotonic() - before
                    self.n += 1
                time.sleep(.3)
            took[beside] = time.monotonic() - begun
            del self.builders[cpu]
        print("build   %.1f s alone, %.1f s beside commands that took %.1f s" % (took[False], took[True], had), flush=True)

    def all(self):
        print("%d cores, load %.1f" % (len(self.cpus), os.getloadavg()[0]))
        self.answers()
        self.losses()
        self.whole_builds()
        self.times()

    def close(self):
        for cpu in list(self.builders):
            self.end_build(cpu)
        shutil.rmtree(self.top, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=30)
    p.add_argument("--rounds", type=int, default=12)
    p.add_argument("--units", type=int, default=200, help="C files of a build")
    p.add_argument("solverfs", metavar="SOLVERFS")
    o = p.parse_args()
    o.solverfs = os.path.realpath(o.solverfs)
    b = Bench(o)
    try:
        b.all()
    finally:
        b.close()


main()
