#!/usr/bin/env python3
"""Builds that lend their cores, again and again: do they survive it, and does nothing of a killed one stay?

Each round builds a project of C files by make or by ninja, through ccache, on every core, while runs take single cores or all of them for 1 to 80 ms (here:
the locks of runs, core/sandbox/core_lock.h, held by a process of their own). A run that has its core looks whether a process of the build is on it. Then, by turns:

  - the build goes on to its end, and has made the same program as the one that nothing disturbed
  - kill -9 of the command that builds, while its build stands still: no process of it is left, stopped or not, and no lock
  - kill -9 of the process that runs: the build goes on to its end

    lend.py [--rounds N] [--files N] [--seed N] SOLVERFS
"""
import argparse, fcntl, os, random, shutil, signal, struct, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../support"))
from seed import test_seed

RUN, BUILD, MOVES = 0, 1, 2
GETLK, SETLK = 36, 37  # F_OFD_*


def shell(command, **more):
    done = subprocess.run(command, shell=isinstance(command, str), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.exit("%s: %s\n%s" % (command, done.returncode, done.stdout.decode(errors="replace")))
    return done.stdout.decode()


def lock(f, byte, kind=fcntl.F_WRLCK):
    try:
        fcntl.fcntl(f, SETLK, struct.pack("hhqqi4x", kind, 0, byte, 1, 0))
        return True
    except BlockingIOError:
        return False


def is_locked(f, byte):
    return struct.unpack("hhqqi4x", fcntl.fcntl(f, GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, byte, 1, 0)))[0] != fcntl.F_UNLCK


def processes():
    """pid -> (parent, state, cpu, name)"""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                text = f.read()
        except OSError:
            continue
        rest = text[text.rindex(")") + 2:].split()
        found[int(name)] = (int(rest[1]), rest[0], int(rest[36]), text[text.index("(") + 1:text.rindex(")")])
    return found


def below(pid):
    """The build's processes: those below the sandbox's first one."""
    all_of_them, tree = processes(), {pid}
    grown = True
    while grown:
        more = {p for p, s in all_of_them.items() if s[0] in tree} - tree
        tree |= more
        grown = bool(more)
    return {p: all_of_them[p] for p in tree - {pid} if p in all_of_them and all_of_them[p][3] not in ("bwrap", ".solverfs-exec", "solverfs")}


class Soak:
    def __init__(self, o):
        self.o, self.rng = o, random.Random(o.seed)
        self.top = tempfile.mkdtemp(prefix="solverfs-lend-")
        self.slots = os.path.join(self.top, "slots")
        os.environ.update(HOME=self.top, SOLVERFS_SLOTS=self.slots, SOLVERFS_STORE=os.path.join(self.top, "store"), GIT_CONFIG_NOSYSTEM="1", LC_ALL="C.UTF-8")
        self.cpus = sorted(os.sched_getaffinity(0))
        # Cores that are claimed (tests/support/cores.c) share the real ones: where a process runs says nothing.
        self.are_real = all(os.path.exists("/sys/devices/system/cpu/cpu%d" % cpu) for cpu in self.cpus)
        self.takes = self.all_taken = self.kills = 0
        shell([o.solverfs, "init", "-q"])
        for kind, command in (("make", "make -s -j{jobs}"), ("ninja", "ninja -j{jobs}")):
            self.project(kind)
            with open(os.path.join(self.top, kind + ".recipe"), "w") as f:
                f.write("[solver]\n\tformat = smt2\n\tbuild = %s\n\toutput = all\n\trun = {bin} {case}\n" % command)
            shell([o.solverfs, "solver", "add", "-q", "--recipe", os.path.join(self.top, kind + ".recipe"), kind, os.path.join(self.top, kind)])
            shell([o.solverfs, "build", "-q", kind, "HEAD"])

    def project(self, kind):
        folder = os.path.join(self.top, kind)
        os.makedirs(folder)
        names = ["u%d" % i for i in range(self.o.files)]
        for n in names:
            with open(os.path.join(folder, n + ".c"), "w") as f:
                for k in range(60):
                    f.write("static unsigned f%d(unsigned x) { for (int i = 0; i < %d; i++) x = x * %du ^ x >> 5; return x; }\n" %
                            (k, self.rng.randrange(9, 99), self.rng.randrange(1 << 30)))
                f.write("unsigned %s(unsigned x) { return %s; }\n" % (n, " + ".join("f%d(x)" % k for k in range(60))))
        with open(os.path.join(folder, "main.c"), "w") as f:
            f.write("".join("unsigned %s(unsigned);\n" % n for n in names) + "int main(void) { return (int)(%s); }\n" % " + ".join(n + "(1)" for n in names))
        names.append("main")
        with open(os.path.join(folder, "Makefile"), "w") as f:
            f.write("all: %s\n\tcc -o $@ $^\n%%.o: %%.c\n\tcc -O2 -c -o $@ $<\n" % " ".join(n + ".o" for n in names))
        with open(os.path.join(folder, "build.ninja"), "w") as f:
            f.write("rule cc\n command = cc -O2 -c -o $out $in\nrule link\n command = cc -o $out $in\n" +
                    "".join("build %s.o: cc %s.c\n" % (n, n) for n in names) + "build all: link %s\n" % " ".join(n + ".o" for n in names))
        shell("git init -q -b main . && git add -A && git -c user.name=s -c user.email=s@localhost commit -q -m s", cwd=folder)

    def files(self):
        return {cpu: open(os.open(os.path.join(self.slots, "cpu%d" % cpu), os.O_RDWR | os.O_CREAT, 0o666), "r+b") for cpu in self.cpus}

    def own(self, f):
        """As a run does: true when the build has left the core."""
        if not lock(f, RUN):
            return False
        for _ in range(60000):
            if not is_locked(f, MOVES):
                return True
            time.sleep(.001)
        sys.exit("a build has not left its core after a minute")

    def take_some(self, builder, files):
        some = self.cpus if self.rng.random() < .5 else [self.rng.choice(self.cpus)]
        for cpu in some:
            self.own(files[cpu])
        self.takes += 1
        on_it = {pid for pid, (_, state, cpu, _) in below(builder.pid).items() if state == "R" and cpu in some and self.are_real}
        for _ in range(4):  # one that was being made when the others left follows soon
            if not on_it:
                break
            time.sleep(.02)
            on_it &= {pid for pid, (_, state, cpu, _) in below(builder.pid).items() if state == "R" and cpu in some}
        if on_it:
            sys.exit("of the build there are on the cores %s, which a run has: %s" % (some, {pid: s for pid, s in below(builder.pid).items() if pid in on_it}))
        self.all_taken += len(some) == len(self.cpus)
        return some

    def give_back(self, some, files):
        for cpu in some:
            lock(files[cpu], RUN, fcntl.F_UNLCK)

    def build(self, kind):
        builder = subprocess.Popen([self.o.solverfs, "build", "--json", "--again", kind, "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        files = self.files()
        while builder.poll() is None and not any(is_locked(f, MOVES) for f in files.values()):
            time.sleep(.002)
        return builder, files

    def finish(self, builder, files, kind):
        while builder.poll() is None:
            some = self.take_some(builder, files)
            time.sleep(self.rng.uniform(.001, .08))
            self.give_back(some, files)
            time.sleep(self.rng.uniform(.001, .15))
        out, err = builder.communicate()
        if builder.returncode != 0 or b"differ" in err:
            sys.exit("a build by %s did not survive: %s\n%s" % (kind, builder.returncode, (out + err).decode(errors="replace")))

    def kill_builder(self, builder, files):
        some = self.cpus
        time.sleep(self.rng.uniform(0, .5))
        for cpu in some:
            self.own(files[cpu])
        left = below(builder.pid)
        builder.kill()
        builder.wait()
        deadline = time.monotonic() + 60
        while any(p in (now := processes()) and now[p][1] != "Z" and now[p][3] == s[3] for p, s in left.items()):
            if time.monotonic() > deadline:
                sys.exit("left behind: %s" % {p: now[p] for p in left if p in now})
            time.sleep(.005)
        self.give_back(some, files)
        while any(is_locked(f, b) for f in files.values() for b in (BUILD, MOVES)):
            if time.monotonic() > deadline:
                sys.exit("a lock of a killed build is held")
            time.sleep(.005)
        self.kills += len(left) > 0

    def kill_run(self, builder, files, kind):
        run = os.fork()
        if run == 0:
            for f in self.files().values():
                self.own(f)
            signal.pause()
        time.sleep(self.rng.uniform(.05, .3))
        os.kill(run, signal.SIGKILL)
        os.waitpid(run, 0)
        self.finish(builder, files, kind)

    def round(self, kind, turn):
        builder, files = self.build(kind)
        (lambda: self.finish(builder, files, kind), lambda: self.kill_builder(builder, files), lambda: self.kill_run(builder, files, kind))[turn]()
        for f in files.values():
            f.close()

    def all(self):
        for k in range(self.o.rounds):
            self.round(("make", "ninja")[k % 2], k // 2 % 3)
        for _ in range(20):  # those to be killed may all have ended before
            if self.o.rounds >= 6 and not self.kills:
                self.round("make", 1)
        print("%d rounds; runs took cores %d times, %d times all of them; %d builds were killed as they stood still" % (self.o.rounds, self.takes, self.all_taken, self.kills))
        if self.o.rounds >= 6 and not (self.takes and self.kills):
            sys.exit("no core was taken, or no build killed: nothing was seen")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=60)
    p.add_argument("--files", type=int, default=24, help="C files of a project (24)")
    p.add_argument("--seed", type=int)
    p.add_argument("solverfs", metavar="SOLVERFS")
    o = p.parse_args()
    o.seed = test_seed(o.seed)
    o.solverfs = os.path.realpath(o.solverfs)
    print("lend.py --rounds %d --files %d --seed %d" % (o.rounds, o.files, o.seed), flush=True)
    s = Soak(o)
    try:
        s.all()
    finally:
        shutil.rmtree(s.top, ignore_errors=True)


main()
