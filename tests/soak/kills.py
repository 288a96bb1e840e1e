#!/usr/bin/env python3
"""kill -9, many times, at the real thing: a mount, the command line and a tiny solver on one store.

    tests/soak/kills.py [--rounds 1000] [--seed N] [--keep] SOLVERFS TINY

Each round starts readers of cold files and commands, widens a seam or two by the fault injector's delays, waits for a random moment and
kills one of: the daemon, a command (run, build, gc, fsck, case add), a helper (solverfs-exec), bubblewrap, a solver, a build's shell. A ledger
holds every finished value that a reader or a command was given. After each round:

  - every value in the ledger is read again, through cached/, and is the same (a program may have been freed by gc: then it is absent)
  - what cached/ shows is complete: every file of every cell can be read, and they agree
  - the next start says nothing, and fsck finds nothing
  - no process, lock, mount or scratch folder is left

Prints a line for every fifty rounds and one at the end; exit status 1, and the world is kept, at the first thing that is not so.
"""
import argparse, collections, ctypes, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time, traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../support"))
from seed import test_seed

COMMITS, CASES_BEGIN = 24, 12
CELL = ["result", "time", "cputime", "memory", "stdout", "stderr", "run.json"]
SEAMS = """store.begin store.commit store.journaled store.committed journal.append journal.sync programs.put programs.place programs.get cases.place
cases.enter build.checkout build.command build.keep execute.start execute.started execute.end keeper.start keeper.begin
keeper.begun keeper.end engine.compute engine.answer
open.answer""".split()
NAMES = {"solverfs-exec": "helper", ".solverfs-exec": "helper", "bwrap": "bwrap", "tiny": "solver", "sh": "build"}


class Wrong(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Wrong(text)


def await_that(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"waited {seconds} s in vain: {what() if callable(what) else what}")
        time.sleep(0.01)


def read(path):
    with open(path, "rb") as f:
        return f.read()


# -- processes --


def processes():
    """pid → (parent, name, state) of all that descend from us."""
    table = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = read(f"/proc/{pid}/stat").decode(errors="replace")
        except OSError:
            continue
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        table[int(pid)] = (int(rest[1]), name, rest[0])
    ours = {}
    for pid in table:
        parent = pid
        while parent in table and parent != os.getpid():
            parent = table[parent][0]
        if parent == os.getpid() and pid != parent:
            ours[pid] = table[pid]
    return ours


def reap(but=()):
    """Orphans come to us, as a subreaper; a child that Popen knows is waited for by it."""
    for pid, (parent, _, state) in processes().items():
        if state == "Z" and parent == os.getpid() and pid not in but:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


# -- the world --


class World:
    def __init__(self, solverfs, tiny, seed):
        self.random = random.Random(seed)
        self.top = tempfile.mkdtemp(prefix="solverfs soak ")
        self.solverfs, self.tiny = solverfs, tiny
        self.store, self.mnt = f"{self.top}/store", f"{self.top}/mnt"
        self.faults = f"{self.top}/faults"
        self.ledger = {}  # path below cached/ → bytes
        self.lock = threading.Lock()
        self.daemon, self.commands, self.n_cases = None, [], 0
        self.counts = collections.Counter()
        self.log_seen = 0
        self.environment = dict(
            os.environ, HOME=self.top, SOLVERFS_STORE=self.store, SOLVERFS_SLOTS=self.top + "/slots", SOLVERFS_FAULTS=self.faults, LC_ALL="C", GIT_CONFIG_NOSYSTEM="1",
            LSAN_OPTIONS="print_suppressions=0",  # of a build with sanitizers: what it says is taken for a complaint
        )
        for d in (self.mnt, self.faults):
            os.mkdir(d)
        self.make()

    def sh(self, text):
        subprocess.run(["sh", "-ec", text], cwd=self.top, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def make(self):
        with open(f"{self.top}/tiny.recipe", "w") as f:
            f.write(
                "[solver]\nformat = smt2\nbuild = sh build.sh\noutput = out/tiny\nrun = {bin} {seed} {case}\nseed = --seed={n}\n"
                "timeout = 60s\nmemory = 512m\noutput-limit = 1m\nprocesses = 32\nsamples = 1\n"
            )
        with open(f"{self.top}/build.sh", "w") as f:
            f.write(
                "mkdir -p out; cat tiny >out/tiny.new; sleep 0.05; cat version >>out/tiny.new; chmod +x out/tiny.new\n"
                "sleep 0.05; mv out/tiny.new out/tiny; echo built $(cat version)\n"
            )
        self.sh(
            f"""git init -q -b main repo; cd repo; git config user.name T; git config user.email t@example.org
                cp '{self.tiny}' tiny; cp ../build.sh .
                for i in $(seq {COMMITS}); do echo version: $i >version; git add -A; git commit -q -m $i; done; cd ..
                '{self.solverfs}' init -q; '{self.solverfs}' solver add -q tiny repo --recipe tiny.recipe
                printf '\\n[solverfs]\\ngrace = 200ms\\n' >>store/config"""
        )
        self.shas = subprocess.check_output(["git", "-C", f"{self.top}/repo", "rev-list", "--reverse", "main"], text=True).split()
        self.start()
        for _ in range(CASES_BEGIN):
            self.add_case()

    def case_text(self):
        self.n_cases += 1
        ms = self.random.choice([0, 5, 20, 60, 150])
        return self.n_cases, f"; case {self.n_cases}\n; do sleep {ms}\n; do print sat\n; do bytes {self.random.randrange(1, 9000)}\n"

    def add_case(self):
        n, text = self.case_text()
        with open(f"{self.mnt}/cases/{n}.smt2", "w") as f:
            f.write(text)

    # -- the daemon --

    def start(self):
        p = subprocess.run([self.solverfs, "mount", "-q", self.mnt], cwd=self.top, env=self.environment, capture_output=True, text=True, timeout=60)
        check(p.returncode == 0 and p.stdout == p.stderr == "", f"mount: status {p.returncode}, says {p.stdout}{p.stderr}")
        found = [pid for pid, (parent, name, state) in processes().items() if name == "solverfs" and parent == os.getpid() and state != "Z"]
        check(len(found) == 1, f"one daemon, not {found}")
        self.daemon = found[0]

    def daemon_is_gone(self):
        try:
            pid, _ = os.waitpid(self.daemon, os.WNOHANG)
            return pid == self.daemon
        except ChildProcessError:
            return True

    def log_check(self):
        log = read(f"{self.store}/log")
        for line in log[self.log_seen :].decode(errors="replace").splitlines():
            bad = re.search(r"error:|warning:|assert|Sanitizer|damaged|corrupt|repair|rebuil|not in the store", line)
            check(not bad or "detaching the dead mount" in line or self.is_expected(line), f"the log says: {line}")
        self.log_seen = len(log)

    def is_expected(self, line):
        # who is killed is reported to who asked, and that is what the log is for
        return self.victim in ("helper", "bwrap", "build", "solver") and re.search(r"solverfs-exec|bwrap|bubblewrap|killed|ended|sandbox|helper|built again", line)

    # -- work --

    def note(self, path, data):
        if data == b"unbuildable\n":  # a build of which we killed a process, twice; its cells have no more than this
            self.counts["received unbuildable"] += 1
            return
        with self.lock:
            self.counts["received"] += 1
            check(self.ledger.setdefault(path, data) == data, f"{path} is another one now")

    def reader(self, sha, case, what, errors):
        below = {"cell": f"{sha}/cases/{case}/{self.random.choice(CELL)}", "log": f"{sha}/build/log", "bin": f"{sha}/bin/tiny"}[what]
        try:
            data = read(f"{self.mnt}/tiny/commits/{below}")
            check(data or below.endswith(("stderr", "stdout")), f"{below} is empty")
            self.note(below, data)
        except OSError as e:
            self.counts[f"reader {e.strerror}"] += 1
        except Wrong as e:
            errors.append(e)

    def command(self, *arguments):
        p = subprocess.Popen([self.solverfs, *arguments], cwd=self.top, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.commands.append((p, arguments))

    def begin(self):
        r = self.random
        errors, threads = [], []
        for seam in r.sample(SEAMS, r.choice([0, 1, 1, 2])):
            with open(f"{self.faults}/new", "w") as f:
                f.write(f"delay {r.choice([20, 60, 150])} times 40\n")
            for old in (f"{self.faults}/{seam}.met",):
                if os.path.exists(old):
                    os.unlink(old)
            os.rename(f"{self.faults}/new", f"{self.faults}/{seam}")
        for _ in range(r.randrange(1, 5)):
            args = (r.choice(self.shas), r.randrange(1, self.n_cases + 1), r.choice(["cell", "cell", "cell", "log", "bin"]), errors)
            threads.append(threading.Thread(target=self.reader, args=args, daemon=True))
            threads[-1].start()
        for _ in range(r.choice([0, 1, 1, 2])):
            sha, what = r.choice(self.shas), r.choice(["run", "run", "build", "gc", "free", "fsck", "add", "cp"])
            if what == "run":
                self.command("run", "-q", "tiny", sha, f"{r.randrange(1, self.n_cases + 1)}", "--print", r.choice(["result", "stdout", "run.json"]))
            elif what == "build":
                self.command("build", "-q", "tiny", sha)
            elif what == "gc":
                self.command("gc", "-q")
            elif what == "free":
                self.command("gc", "-q", "--keep", "0")
            elif what == "fsck":
                self.command("fsck", "-q")
            else:
                n, text = self.case_text()
                with open(f"{self.top}/{n}.smt2", "w") as f:
                    f.write(text)
                if what == "add":
                    self.command("case", "add", "-q", f"{n}.smt2")
                else:
                    p = subprocess.Popen(["cp", f"{self.top}/{n}.smt2", f"{self.mnt}/cases/"], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
                    self.commands.append((p, ("cp", str(n))))
        return threads, errors

    def victims(self):
        kinds = collections.defaultdict(list)
        commands = {p.pid for p, a in self.commands if a[0] != "cp" and p.poll() is None}
        for pid, (_, name, state) in processes().items():
            if state == "Z":
                continue
            if pid == self.daemon:
                kinds["daemon"].append(pid)
            elif pid in commands:
                kinds["command"].append(pid)
            elif name in NAMES:
                kinds[NAMES[name]].append(pid)
        return kinds

    def kill(self):
        wanted = self.random.choice(["daemon", "daemon", "command", "command", "helper", "bwrap", "solver", "build"])
        time.sleep(self.random.random() ** 2 * 0.5)
        end = time.monotonic() + 0.3
        while not (kinds := self.victims()).get(wanted) and time.monotonic() < end:
            time.sleep(0.002)
        self.victim = wanted if kinds.get(wanted) else self.random.choice(sorted(kinds))
        time.sleep(self.random.random() * 0.03)
        try:
            os.kill(self.random.choice(kinds[self.victim]), signal.SIGKILL)
            self.counts[self.victim] += 1
        except ProcessLookupError:
            self.counts["came too late"] += 1

    def command_ended(self, p, arguments):
        out, err = p.communicate(timeout=120)
        self.counts["commands"] += 1
        if p.returncode == 0 and arguments[0] == "run":
            cell = f"{arguments[3]}/cases/{arguments[4]}/{arguments[6]}"
            self.note(cell, out)
        if arguments[0] == "fsck" and p.returncode >= 0:
            check(p.returncode == 0, f"fsck beside others: status {p.returncode}\n{out.decode()}{err.decode()}")
        if arguments[0] == "gc" and p.returncode >= 0:
            check(p.returncode == 0, f"gc: status {p.returncode}\n{err.decode()}")
        if arguments[0] in ("case", "cp") and p.returncode == 0:  # when it returns 0 it is on disk
            name = arguments[1] if arguments[0] == "cp" else arguments[3][: -len(".smt2")]
            self.added.append(name)

    # -- after a round --

    def check_ledger(self):
        for path, given in self.ledger.items():
            try:
                data = read(f"{self.mnt}/tiny/cached/{path}")
            except FileNotFoundError:
                check("/bin/" in path, f"{path} was given to a reader and is lost: {given[:100]!r}")
                continue
            except OSError as e:
                raise Wrong(f"{path} was given to a reader and cannot be read: {e}")
            check(data == given, f"{path} is not what a reader was given")

    def check_cell(self, path):
        if os.listdir(path) == ["result"]:
            check(read(f"{path}/result") == b"unbuildable\n" and b"Killed" in read(f"{path}/../../build/log"), f"{path} is not whole")
            self.counts["cells unbuildable"] += 1
            return
        got = {name: read(f"{path}/{name}") for name in CELL}
        run = json.loads(got["run.json"])
        result = got["result"].decode().strip()
        check(run["verdict"] == result.split("\n")[-1], f"{path}: result is {result}, run.json says {run['verdict']}")
        check(re.fullmatch(rb"\d+\.\d+\n", got["time"]) and re.fullmatch(rb"\d+\n", got["memory"]), f"{path}: {got['time']}{got['memory']}")
        check(result in ("sat", "crash", "error"), f"{path}: {result}")
        check(result != "sat" or run["end"]["reason"] != "exit" or got["stdout"] == self.stdout_of(path), f"{path}: stdout is not whole")
        self.counts[f"cells {result}"] += 1

    def stdout_of(self, path):
        """What tiny prints for a case whose last line is '; do bytes N'."""
        n = int(read(f"{self.mnt}/cases/{os.path.basename(path)}/input.smt2").split()[-1])
        return b"sat\n" + bytes(10 if i == n - 1 or i % 71 == 70 else 97 + (i // 71 + i) % 26 for i in range(n))

    def check_cached(self):
        self.counts = collections.Counter({k: v for k, v in self.counts.items() if not k.startswith("cells ")})
        cached = f"{self.mnt}/tiny/cached"
        for sha in os.listdir(cached):
            cases = f"{cached}/{sha}/cases"
            for case in os.listdir(cases) if os.path.isdir(cases) else []:
                self.check_cell(f"{cases}/{case}")

    def leftovers(self):
        left = []
        for folder in ("scratch", "claims", "engines", "mounts"):
            left += [f"{folder}/{n}" for n in os.listdir(f"{self.store}/{folder}")]
        left += [f"work/{s}/{n}" for s in os.listdir(f"{self.store}/work") for n in os.listdir(f"{self.store}/work/{s}")
                 if n.endswith((".scratch", ".old"))]  # fmt: skip
        left = [n for n in left if n not in (f"engines/{self.daemon}", f"engines/{self.daemon}.json", f"engines/{self.daemon}.new")]
        return [n for n in left if not n.startswith("mounts/")] + [n for n in left if n.startswith("mounts/")][1:]

    def others(self):
        reap(but=[self.daemon])
        return {pid: p for pid, p in processes().items() if pid != self.daemon}

    def check_round(self, thoroughly):
        for seam in os.listdir(self.faults):
            os.unlink(f"{self.faults}/{seam}")
        was_killed = self.victim == "daemon" and self.daemon_is_gone_soon()
        if was_killed:
            self.daemon = None
            self.start()
        elif self.victim == "command":  # whoever works there next takes away what it left
            p = subprocess.run([self.solverfs, "run", "-q", "tiny", self.shas[0], "1", "--print", "result"], cwd=self.top,
                               env=self.environment, capture_output=True, text=True, timeout=120)  # fmt: skip
            check(p.returncode == 0 and p.stderr == "", f"run behind a killed command: status {p.returncode}, says {p.stderr}")
        await_that(lambda: not self.others(), lambda: f"processes are left: {self.others()}")
        await_that(lambda: not self.leftovers(), lambda: f"left over: {self.leftovers()}")
        mounts = [l for l in open("/proc/self/mounts") if self.top.replace(" ", "\\040") in l]
        check(len(mounts) == 1, f"one mount, not {mounts}")
        self.check_ledger()
        for name in self.added:
            check(os.path.exists(f"{self.mnt}/cases/by-name/{name}.smt2"), f"case {name} was added, and is lost")
        p = subprocess.run([self.solverfs, "fsck", "-q"], cwd=self.top, env=self.environment, capture_output=True, text=True, timeout=300)
        found = [l for l in p.stdout.splitlines() if not re.match(r"note\tprograms\t\d+ programs? (are|is) not kept|note\tprograms\t\d+ programs? (are|is) of no build|note\tcases\t\d+ files .* are of no case", l)]
        check(p.returncode == 0 and not found and not p.stderr, f"fsck: status {p.returncode}, says {p.stdout}{p.stderr}")
        if thoroughly:
            self.check_cached()
        self.log_check()

    def daemon_is_gone_soon(self):
        await_that(self.daemon_is_gone, "the killed daemon does not die")
        return True

    def round(self, thoroughly):
        self.added = []
        threads, errors = self.begin()
        self.kill()
        for t in threads:
            t.join(120)
            check(not t.is_alive(), "a reader hangs")
        for p, arguments in self.commands:
            self.command_ended(p, arguments)
        self.commands = []
        if errors:
            raise errors[0]
        self.check_round(thoroughly)
        self.n_cases = max(self.n_cases, CASES_BEGIN)

    def end(self):
        subprocess.run([self.solverfs, "unmount", "-q", self.mnt], env=self.environment, timeout=60, check=True)
        await_that(lambda: not self.others() and self.daemon_is_gone(), "the daemon does not end")
        self.daemon = None
        check(not self.leftovers() and not os.listdir(f"{self.store}/mounts"), f"left over at the end: {self.leftovers()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("solverfs")
    parser.add_argument("tiny")
    a = parser.parse_args()
    a.seed = test_seed(a.seed)
    if not os.access("/dev/fuse", os.W_OK):
        print("no /dev/fuse here")
        sys.exit(77)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    w = World(os.path.realpath(a.solverfs), os.path.realpath(a.tiny), a.seed)
    print(f"seed {a.seed}, in {w.top}", flush=True)
    done = 0
    try:
        for done in range(1, a.rounds + 1):
            w.round(done % 25 == 0 or done == a.rounds)
            if done % 50 == 0 or done == a.rounds:
                print(f"{done} rounds, {len(w.ledger)} values in the ledger, 0 lost: {dict(sorted(w.counts.items()))}", flush=True)
        w.end()
    except Exception as e:
        traceback.print_exc()
        print(f"round {done}, seed {a.seed}, victim {getattr(w, 'victim', None)}: {e}", flush=True)
        print(f"kept for inspection: {w.top}", flush=True)
        for pid in processes():
            os.kill(pid, signal.SIGKILL)
        subprocess.run(["umount", "-l", w.mnt], stderr=subprocess.DEVNULL)
        sys.exit(1)
    if not a.keep:
        shutil.rmtree(w.top)


if __name__ == "__main__":
    main()
