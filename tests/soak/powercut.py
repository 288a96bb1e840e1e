#!/usr/bin/env python3
"""Power cuts, simulated: what is not synced is lost, kept, out of order or torn, at every point of what was done to a store.

    tests/soak/powercut.py [--cuts N] [--whole N] [--seed N] [--keep] POWERCUT_STORE RECORD.so [SOLVERFS TINY]

Processes work on a store while a preloaded library (powercut_record.c) writes down, in order, each change to its files and folders, and each
sync. From that the disk is built anew as it may be behind a power cut at any point:

  - what is written to a file and not synced is there or not, each write by itself, or only in some of its sectors of 512 bytes
  - a name made, moved or removed is there when its folder was synced, or when one changed later is: a journal of names is never out of order;
    how far it got is drawn. That a file's own sync brings its name along, as most file systems do, is relied on for git's files only
  - or all of that is lost, or all is kept, or the names are kept and the bytes are lost, which is the usual cut

What somebody was told is finished is written down as well, where it was told. Of each disk: it opens, what was told is there and right,
nothing is there that never was, of a transaction all or nothing is there, the second check finds nothing, and it can be written to.

With SOLVERFS and TINY, the same of the real thing: init, solver add, a mount with readers and writers, commands; each disk is checked by fsck
and by a mount, of another boot, and a cold value is read.

Prints how many cuts; exit status 1, and what it was built from is kept, at the first disk that is not so.
"""
import argparse, atexit, collections, concurrent.futures, fcntl, json, os, random, re, shlex, shutil, struct, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../support"))
from seed import test_seed

SECTOR = 512
HEADER = struct.Struct("=B7xQQII")
Op = collections.namedtuple("Op", "kind inode offset path data")


class Wrong(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Wrong(text)


# -- the record --


def one_word(path):
    """A list of libraries to preload is parted at blanks and colons."""
    if not re.search(r"[\s:]", path):
        return path
    folder = tempfile.mkdtemp(prefix="solverfs-powercut-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.symlink(path, f"{folder}/record.so")
    return f"{folder}/record.so"


class Recording:
    def __init__(self, top, store, library):
        self.path, self.store = f"{top}/record", os.path.realpath(store)
        open(self.path, "xb").close()
        self.environment = {"LD_PRELOAD": one_word(os.path.realpath(library)), "POWERCUT_LOG": self.path, "POWERCUT_STORE": self.store}

    def note(self, what):
        """Something somebody was told, at this point."""
        data = json.dumps(what).encode()
        with open(self.path, "ab") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.write(HEADER.pack(ord("a"), 0, 0, 0, len(data)) + data)

    def ops(self):
        raw, at, ops = open(self.path, "rb").read(), 0, []
        while at < len(raw):
            kind, inode, offset, n, m = HEADER.unpack_from(raw, at)
            at += HEADER.size
            path, data = os.path.normpath(os.fsdecode(raw[at : at + n])) if n else "", raw[at + n : at + n + m]
            at += n + m
            ops.append(Op(chr(kind), inode, offset, path, data if chr(kind) == "w" else os.path.normpath(os.fsdecode(data)) if chr(kind) in "rl" else data))
        return ops


# -- disks --


class File:
    def __init__(self):
        self.changes = []  # (kind, offset, data)
        self.synced = 0  # of the changes, so many

    def content(self, choose):
        out = bytearray()
        for i, (kind, offset, data) in enumerate(self.changes):
            parts = [(offset, data)] if i < self.synced else choose(kind, offset, data)
            if kind == "t":
                if parts:
                    del out[offset:]
                    out.extend(bytes(offset - len(out)))
                continue
            for at, part in parts:
                out.extend(bytes(max(0, at - len(out))))
                out[at : at + len(part)] = part
        return bytes(out)


class Names:
    """The names as all processes saw them, and the list of changes to them."""

    def __init__(self, store, lenient):
        self.store = store
        self.files, self.folders, self.by_inode = {}, {store}, {}
        self.changes = []  # (kind, path, other, file)
        self.synced = -1  # the last one that is on the disk for good
        self.lenient = lenient  # paths of which a file's sync is also its name's

    def change(self, kind, path, other=None, file=None):
        self.changes.append((kind, path, other, file))
        self.apply(self.files, self.folders, self.changes[-1])

    @staticmethod
    def apply(files, folders, change):
        kind, path, other, file = change
        if kind == "o":
            files[path] = file
        elif kind == "u":
            files.pop(path, None)
        elif kind == "m":
            folders.add(path)
        elif kind == "d":
            folders.discard(path)
        elif kind == "l":
            files[other] = file
        elif path in folders:
            for old in [p for p in folders if p == path or p.startswith(path + "/")]:
                folders.discard(old)
                folders.add(other + old[len(path) :])
            for old in [p for p in files if p.startswith(path + "/")]:
                files[other + old[len(path) :]] = files.pop(old)
        else:
            files.pop(path, None)
            files[other] = file

    def sync_names(self, path, folder):
        """A folder's names, and all that were changed before: file systems write their journals in order."""
        for i in range(len(self.changes) - 1, self.synced, -1):
            kind, p, other, _ = self.changes[i]
            if any(q and (os.path.dirname(q) == path if folder else q == path) for q in (p, other)):
                self.synced = i
                return

    def take(self, op):
        if op.kind == "o":
            if op.path not in self.files:
                self.by_inode[op.inode] = File()
                self.change("o", op.path, file=self.by_inode[op.inode])
        elif op.kind in "wt":
            file = self.by_inode.get(op.inode)
            if file:
                file.changes.append((op.kind, op.offset, op.data))
        elif op.kind == "s" and op.path in self.folders:
            self.sync_names(op.path, True)
        elif op.kind == "s":
            file = self.by_inode.get(op.inode)
            if file:
                file.synced = len(file.changes)
                if re.search(self.lenient, op.path[len(self.store) :]):
                    self.sync_names(op.path, False)
        elif op.kind == "S":
            self.synced = len(self.changes) - 1
            for file in self.by_inode.values():
                file.synced = len(file.changes)
        elif op.kind in "rl" and op.path in self.files:
            self.change(op.kind, op.path, op.data, self.files[op.path])
        elif op.kind in "umd" or op.path in self.folders:  # else a file that was made unseen, as who runs what is
            self.change(op.kind, op.path, op.data or None)

    def disk(self, how, r):
        """path → bytes, folders: one disk there may be now."""
        if how == "random":
            last = r.randint(self.synced, len(self.changes) - 1)
            odds = r.choice([0.1, 0.5, 0.9])
        else:
            last = self.synced if how == "lost" else len(self.changes) - 1
            odds = 1.0 if how == "kept" else 0.0
        files, folders = {}, {self.store}
        for change in self.changes[: last + 1]:
            self.apply(files, folders, change)

        def choose(kind, offset, data):
            if r.random() >= odds:
                return []
            if kind == "t" or how != "random" or r.random() < 0.5:
                return [(offset, data)]
            sectors, at = [], 0
            while at < len(data):
                end = min(len(data), at + SECTOR - (offset + at) % SECTOR)
                if r.random() < 0.5:
                    sectors.append((offset + at, data[at:end]))
                at = end
            return sectors

        return {p: f.content(choose) for p, f in files.items()}, folders


def build(disk, store, image):
    files, folders = disk
    shutil.rmtree(image, ignore_errors=True)
    for d in sorted(folders):
        os.makedirs(image + d[len(store) :], mode=0o700, exist_ok=True)
    for p, data in files.items():
        path = image + p[len(store) :]
        if os.path.isdir(os.path.dirname(path)):  # else its folder is lost, and it with that
            with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o700)) as f:
                f.write(data)


HOWS = ["lost", "names", "kept", "random", "random", "random"]


def cut_all(recording, r, wanted, image, look, ignore, lenient="^$"):
    """At each point, or as many as are wanted, chosen by chance."""
    ops = recording.ops()
    points = list(range(1, len(ops) + 1))
    if wanted < len(points) * len(HOWS):
        chosen = sorted((r.choice(points), r.choice(HOWS)) for _ in range(wanted))
    else:
        chosen = [(p, how) for p in points for how in HOWS]
    names, told, done = Names(recording.store, lenient), [], 0
    for at, op in enumerate(ops, 1):
        if op.kind == "a":
            told.append(json.loads(op.data))
        else:
            names.take(op)
        while done < len(chosen) and chosen[done][0] == at:
            how = chosen[done][1]
            build(names.disk(how, r), recording.store, image)
            try:
                look(image, told)
            except Wrong as e:
                raise Wrong(f"cut behind {at} of {len(ops)} ({op.kind} {op.path}), {how}: {e}")
            done += 1
    compare(names.disk("kept", r), recording.store, ignore)
    return done, len(ops)


def compare(disk, store, ignore):
    """Was everything recorded?"""
    files, real = disk[0], {}
    for folder, _, names in os.walk(store):
        for n in names:
            p = f"{folder}/{n}"
            if not re.search(ignore, p[len(store) :]):
                real[p] = open(p, "rb").read()
    for p in sorted(set(real) | {p for p in files if not re.search(ignore, p[len(store) :])}):
        check(real.get(p) == files.get(p), f"the record is not whole: {p} differs ({len(real.get(p) or b'')} bytes, recorded {len(files.get(p) or b'')})")


# -- a store by itself --


def work_on_store(top, program, recording, seed, n):
    p = subprocess.Popen([program, "write", recording.store, str(seed), str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                         env=dict(os.environ, **recording.environment))  # fmt: skip
    for line in p.stdout:
        recording.note(line.split())
        p.stdin.write("\n")
        p.stdin.flush()
    check(p.wait() == 0, f"the writer ended with {p.returncode}")


def look_at_store(program):
    def look(image, told):
        p = subprocess.run([program, "read", image], input="\n\n", capture_output=True, text=True, timeout=120)
        check(p.returncode == 0, f"status {p.returncode}: {p.stdout}{p.stderr}")
        check("again: 0 0\n" in p.stdout and p.stdout.endswith("done 1000000\n"), f"not mended: {p.stdout}{p.stderr}")
        there = dict(l.split("=") for l in p.stdout.splitlines() if re.match(r"\d+=", l))
        others = [l for l in p.stdout.splitlines() if l.startswith("other ") and l.endswith("=0")]
        check(not others, f"a value that was never written: {others}")
        sure, last = {}, None
        for line in told:
            last = dict(kv.split("=") for kv in line[2:]) if line[0] == "begin" else None
            if line[0] == "done":
                sure.update(begun)
            begun = last or {}
        maybe = dict(sure, **(last or {}))
        strip = lambda d: {k: v for k, v in d.items() if v != "0"}
        check(strip(there) in (strip(sure), strip(maybe)), f"there is {there}\ntold was {sure}\nin flight {last}\n{p.stdout}{p.stderr}")

    return look


# -- the real thing --

RECIPE = """[solver]
format = smt2
build = mkdir -p out
build = cat tiny version >out/tiny
build = chmod +x out/tiny
output = out/tiny
run = {bin} {case}
samples = 1
"""
SETTINGS = "\n[solverfs]\nsandbox = none\nccache = false\n"


class Solverfs:
    def __init__(self, top, solverfs, tiny, library):
        self.top, self.solverfs, self.library, self.mnt = top, solverfs, os.path.realpath(library), f"{top}/mnt"
        os.mkdir(self.mnt)
        self.plain = dict(os.environ, HOME=top, SOLVERFS_SLOTS=top + "/slots", LC_ALL="C", GIT_CONFIG_NOSYSTEM="1")
        with open(f"{top}/tiny.recipe", "w") as f:
            f.write(RECIPE)
        self.sh(f"git init -q -b main repo; cd repo; git config user.name T; git config user.email t@example.org; cp {shlex.quote(tiny)} tiny")
        self.commit(4)

    def sh(self, text):
        subprocess.run(["sh", "-ec", text], cwd=self.top, env=self.plain, check=True, stdout=subprocess.DEVNULL)

    def commit(self, n):
        self.sh(f"cd repo; for i in $(seq {n}); do echo version: $(git rev-list --count --all) >version; git add -A; git commit -q -m c; done")

    def shas(self):
        return subprocess.check_output(["git", "-C", f"{self.top}/repo", "rev-list", "main"], text=True).split()

    def run(self, store, environment, *arguments, statuses=(0,)):
        p = subprocess.run([self.solverfs, *arguments], cwd=self.top, env=dict(self.plain, SOLVERFS_STORE=store, **environment),
                           capture_output=True, text=True, timeout=120)  # fmt: skip
        check(p.returncode in statuses, f"{arguments}: status {p.returncode}\n{p.stdout}{p.stderr}")
        return p

    # -- what is recorded --

    def work(self, recording):
        self.recording = recording
        go = lambda *a: self.run(recording.store, recording.environment, *a)
        go("init", "-q")
        with open(f"{self.top}/settings", "w") as f:
            f.write(SETTINGS)
        subprocess.run(["sh", "-ec", f"cat settings >>{shlex.quote(recording.store)}/config; sync {shlex.quote(recording.store)}/config"], cwd=self.top, check=True,
                       env=dict(self.plain, **recording.environment))  # fmt: skip
        recording.note(["init"])
        go("solver", "add", "-q", "tiny", "repo", "--recipe", "tiny.recipe")
        recording.note(["commits", *self.shas()])
        go("mount", "-q", self.mnt)
        try:
            self.use(go)
        finally:
            self.run(recording.store, {}, "unmount", "-q", self.mnt)

    def add_case(self, go, n):
        text = f"; case {n}\n; do print sat\n; do now\n"
        with open(f"{self.top}/{n}.smt2" if go else f"{self.mnt}/cases/{n}.smt2", "w") as f:
            f.write(text)
        if go:
            go("case", "add", "-q", f"{n}.smt2")
        self.recording.note(["case", str(n), text])

    def read(self, sha, case, name):
        with open(f"{self.mnt}/tiny/commits/{sha}/cases/{case}/{name}") as f:
            data = f.read()
        self.recording.note(["value", f"tiny/cached/{sha}/cases/{case}/{name}", data])

    def read_all(self, shas, cases):
        which = [(s, c, n) for s in shas for c in cases for n in ("time", "stdout", "run.json")]
        with concurrent.futures.ThreadPoolExecutor(len(which)) as pool:
            list(pool.map(lambda one: self.read(*one), which))  # raises what one of them raised

    def use(self, go):
        for n in range(1, 5):
            self.add_case(go if n % 2 else None, n)
        shas = self.shas()
        self.read_all(shas[:2], [1, 2])
        p = go("run", "-q", "tiny", shas[2], "3", "--print", "stdout")
        self.recording.note(["value", f"tiny/cached/{shas[2]}/cases/3/stdout", p.stdout])
        self.commit(2)
        go("solver", "update", "-q", "tiny")
        self.recording.note(["commits", *self.shas()])
        self.read_all(self.shas()[:1], [3, 4])
        go("gc", "-q")
        go("case", "remove", "-q", "2")
        self.recording.note(["removed", "2"])
        go("fsck", "-q")
        self.read_all(shas[2:3], [1])

    # -- what is looked at --

    def look(self, r):
        def look(image, told):
            if told:
                self.look_at(image, told, r.random() < 0.1)

        return look

    def look_at(self, image, told, cold):
        boot = {"LD_PRELOAD": self.library, "POWERCUT_BOOT": "4a1f8a4e-6f2b-4a57-9f0a-2f6a0c0f3f11\n"}
        first = self.run(image, boot, "fsck", "-q", statuses=(0, 1))
        again = self.run(image, boot, "fsck", "-q", statuses=(0, 1))
        check(again.returncode == 0, f"fsck: {first.stdout}{first.stderr}\nand again: {again.stdout}{again.stderr}")
        self.run(image, boot, "mount", "-q", self.mnt)
        try:
            self.look_into_mount(told, cold)
        finally:
            self.run(image, {}, "unmount", "-q", self.mnt)

    def expect(self, path, right):
        try:
            with open(f"{self.mnt}/{path}") as f:
                data = f.read()
        except OSError as e:
            raise Wrong(f"{path} was told, and is lost: {e}")
        check(right is None or data == right, f"{path} was told as {right!r}, and is {data!r}")

    def look_into_mount(self, told, cold):
        removed = {t[1] for t in told if t[0] == "removed"}
        for what, *rest in told:
            if what == "commits":
                for sha in rest:
                    self.expect(f"tiny/commits/{sha}/message", "c\n")
            elif what == "case" and rest[0] not in removed and rest[0] != "2":
                self.expect(f"cases/by-name/{rest[0]}.smt2/input.smt2", rest[1])
            elif what == "value" and f"/cases/2/" not in rest[0]:
                self.expect(rest[0], rest[1])
        commits, cases = [t for t in told if t[0] == "commits"], [t for t in told if t[0] == "case"]
        if cold and commits and cases:
            self.expect(f"tiny/commits/{commits[-1][-1]}/cases/{cases[-1][1]}/result", "sat\n")


# -- main --


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuts", type=int, default=10**9)
    parser.add_argument("--whole", type=int, default=400, help="cuts of the real thing")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("solverfs", nargs="?")
    parser.add_argument("tiny", nargs="?")
    a = parser.parse_args()
    a.seed = test_seed(a.seed)
    if a.solverfs and not os.access("/dev/fuse", os.W_OK):
        print("no /dev/fuse here")
        sys.exit(77)
    r, top = random.Random(a.seed), tempfile.mkdtemp(prefix="solverfs powercut ")
    print(f"seed {a.seed}, in {top}", flush=True)
    try:
        os.mkdir(f"{top}/store")
        recording = Recording(top, f"{top}/store", a.library)
        work_on_store(top, a.program, recording, a.seed % 65536, 60)
        n, ops = cut_all(recording, r, a.cuts, f"{top}/image", look_at_store(a.program), r"/lock\.mdb$|\.lock$")
        print(f"a store: {n} cuts in {ops} changes, 0 lost", flush=True)
        if a.solverfs:
            shutil.rmtree(f"{top}/store")
            os.unlink(recording.path)
            os.mkdir(f"{top}/store")
            recording = Recording(top, f"{top}/store", a.library)
            real = Solverfs(top, os.path.realpath(a.solverfs), os.path.realpath(a.tiny), a.library)
            real.work(recording)
            n, ops = cut_all(recording, r, min(a.cuts, a.whole), f"{top}/image", real.look(r),
                             r"/lock\.mdb$|\.lock$|/lock$|^/(work|scratch|engines|claims|slots|mounts|log)", r"^/repos/")  # fmt: skip
            print(f"solverfs: {n} cuts in {ops} changes, 0 lost", flush=True)
    except Exception as e:
        print(f"seed {a.seed}: {e!r}\nkept for inspection: {top}", flush=True)
        sys.exit(1)
    if not a.keep:
        shutil.rmtree(top)


if __name__ == "__main__":
    main()
