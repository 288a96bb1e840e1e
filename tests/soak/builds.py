#!/usr/bin/env python3
"""Is every program its commit's? Random small projects, built by solverfs in random order under plain recipes, against `git worktree`.

A project is a history of nasty commits: headers that appear in front of others, __has_include, links to files and folders that are turned to
another place, files that become folders, generated headers that are tracked, wildcards, archives, executable bits, .gitattributes (eol, ident,
filter), builds that leave things behind or change their own sources and set the time back, makefiles that know of no header, builds that cannot
succeed. make, autotools, CMake (with make and with ninja) and Meson.

Each commit is built by hand in a fresh `git worktree`, without a compile cache; then by solverfs, in an order of its own in each pass. The
passes have different keys and share the compile cache, so from the second on most objects come out of it. The outcomes must be the same: the
same bytes, or no program in both.

Two projects in five are tidy: their rules know of every file, and builds leave nothing behind.

Each kind gets its share of the builds, whatever a build of it takes. A project is made again by its seed and its kind.

    builds.py [--builds N] [--commits N] [--passes N] [--seed N] [--kinds a,b] [--keep] SOLVERFS
"""
import argparse, hashlib, json, os, random, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../support"))
from seed import test_seed

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "SOURCE_DATE_EPOCH": "315532800",
               "HOME": "/tmp", "TMPDIR": "/tmp", "USER": "solverfs", "LOGNAME": "solverfs"}
GIT = ["git", "-c", "user.name=fuzz", "-c", "user.email=fuzz@localhost", "-c", "core.autocrlf=false", "-c", "gc.auto=0", "-c", "core.safecrlf=false"]
GIT_ENVIRONMENT = {"PATH": ENVIRONMENT["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LANG": "C.UTF-8",
                   "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"}


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def must(words, **more):
    done = run(words, **more)
    if done.returncode != 0:
        sys.exit("%s: %s\n%s" % (" ".join(words)[:200], done.returncode, done.stdout.decode(errors="replace")[-2000:]))
    return done.stdout


# -- projects ------------------------------------------------------------------------------------------------------

class Link(str):
    """A symbolic link's target."""


class Project:
    """The tree of the next commit: path -> text, Link, or (text, 'x') for an executable."""

    def __init__(self, kind, rng):
        self.kind, self.rng, self.files = kind, rng, {}
        self.n = 0  # of values given, so that each is new
        self.modules = []
        self.tidy = rng.random() < .4
        self.flags = {"leave": 0, "mangle": 0, "generate": 0, "define": 0, "deps": self.tidy or rng.random() < .4, "wild": rng.random() < .5,
                      "archive": rng.random() < .5, "where": 0, "debug": rng.random() < .5, "broken": 0}
        self.begin()

    def value(self):
        self.n += 1
        return self.n

    # what every project is made of, whatever builds it
    def begin(self):
        f = self.files
        f["i1/keep.h"] = "#define KEEP 1\n"
        f["i2/v.h"] = "#define V %d\n" % self.value()
        f["la.h"] = "#define L %d\n" % self.value()
        f["lb.h"] = "#define L %d\n" % self.value()
        f["l.h"] = Link("la.h")
        f["d1/d.h"] = "#define D %d\n" % self.value()
        f["d2/d.h"] = "#define D %d\n" % self.value()
        f["d"] = Link("d1")
        f["tg.in"] = "#define TG %d\n" % self.value()
        f["tg.h"] = f["tg.in"]
        f["gen.in"] = "#define GEN %d\n" % self.value()
        f["gen.sh"] = ('#!/bin/sh\nif [ -x gen.sh ]; then echo "#define MODE 1"; else echo "#define MODE 0"; fi\ncat gen.in\n', "x")
        f["data.txt"] = "line %d\nline\n$Id$\n" % self.value()
        f["id.h"] = '#define ID "$Id$ %d"\n' % self.value()
        f["conf"] = "#define CONF %d\n" % self.value()
        f["blob.bin"] = "blob %d" % self.value()
        f["piece.inc"] = ".byte %d\n" % (self.value() % 100)
        for _ in range(self.rng.randint(1, 2)):
            self.add_module()
        self.write_main()
        self.write_rules()

    def add_module(self):
        name = "m%d" % self.value()
        self.modules.append(name)
        uses = ["#include <v.h>", '#include "l.h"', '#include "d/d.h"', '#include "gen.h"', '#include "tg.h"', '#include "id.h"']
        self.rng.shuffle(uses)
        uses = uses[:self.rng.randint(3, 6)]
        names = {"v.h": "V", "l.h": "L", "d.h": "D", "gen.h": "GEN + MODE", "tg.h": "TG", "id.h": "sizeof(ID) + ID[7]"}
        total = " + ".join(names[u.split("/")[-1].strip('">').split("<")[-1].split('"')[-1]] for u in uses)
        text = "\n".join(uses) + "\n"
        if self.rng.random() < .5:
            text += '#if __has_include("opt.h")\n#include "opt.h"\n#else\n#define OPT 0\n#endif\n'
            total += " + OPT"
        if not self.tidy and self.rng.random() < .4:
            text += '#if __has_include("left.h")\n#define LEFT 1\n#else\n#define LEFT 0\n#endif\n'
            total += " + 1000 * LEFT"
        if not self.tidy and self.rng.random() < .25:
            text += '__asm__(".data; .globl %s_blob; %s_blob: .incbin \\"blob.bin\\"; .include \\"piece.inc\\"; .previous");\n' % (name, name)
            text += "extern char %s_blob[];\n" % name
            total += " + %s_blob[5]" % name
        text += "/* %d */\nint %s(void)\n{\n\treturn %d + %s;\n}\n" % (self.value(), name, self.value(), total)
        self.files[name + ".c"] = text

    def write_main(self):
        text = '#include <stdio.h>\n#include "data.inc"\n' + "".join("int %s(void);\n" % m for m in self.modules)
        text += ("#ifndef DEFINED\n#define DEFINED 0\n#endif\nint main(void)\n{\n\tprintf(\"%d %d\\n\", DEFINED, data[5]);\n"
                 + "".join('\tprintf("%s %%d\\n", %s());\n' % (m, m) for m in self.modules) + "\treturn 0;\n}\n")
        self.files["main.c"] = text

    def helper(self):
        """What runs before the compiler in every build."""
        o = self.flags
        text = "#!/bin/sh -e\nod -An -v -tu1 data.txt | sed 's/ *\\([0-9][0-9]*\\)/\\1,/g; 1s/^/const unsigned char data[] = {\\n/; $s/$/};/' > data.inc\n"
        text += "if [ -d conf ]; then cat conf/conf > conf.h; else cat conf > conf.h; fi\n"
        text += "if [ -x gen.sh ]; then ./gen.sh > gen.new; else sh gen.sh > gen.new; fi\ncmp -s gen.new gen.h || cp gen.new gen.h\n"
        if o["leave"]:
            text += ": > left.h\n"
        if o["generate"]:
            text += "echo '#define V %d' > i1/v.h\n" % o["generate"]
        if o["mangle"]:  # changes what is tracked behind the back of everybody
            text += "for f in la.h i2/v.h; do touch -r $f stamp; sed -i 's/[0-9][0-9]*$/%d/' $f; touch -r stamp $f; done\n" % o["mangle"]
        if o["broken"]:
            text += "false\n"
        return text

    def write_rules(self):
        self.files["prepare.sh"] = (self.helper(), "x")
        getattr(self, "rules_" + self.kind.replace("-", "_"))()

    def cflags(self):
        return "-I. -Ii1 -Ii2 -O0%s%s" % (" -g" if self.flags["debug"] else "",
                                        " -DDEFINED=%d" % self.flags["define"] if self.flags["define"] else "")

    def sources(self):
        return ["main.c"] + [m + ".c" for m in self.modules]

    def rules_make(self):
        o = self.flags
        names = "$(wildcard *.c)" if o["wild"] else " ".join(self.sources())
        out = "prog" if not o["where"] else "out%d/prog" % o["where"]
        text = "SOURCES = %s\nOBJECTS = $(SOURCES:.c=.o)\n%s: %s\n" % (names, out, "main.o lib.a" if o["archive"] else "$(OBJECTS)")
        text += "\t@mkdir -p $(dir $@)\n\tcc -o $@ %s\n" % ("main.o lib.a" if o["archive"] else "$(OBJECTS)")
        text += "lib.a: $(filter-out main.o,$(OBJECTS))\n%s\tar rc $@ $^\n" % ("\trm -f $@\n" if self.tidy else "")
        text += "%%.o: %%.c%s\n\tcc %s%s -c -o $@ $<\n" % (" Makefile" if self.tidy else "", self.cflags(), " -MMD -MP" if o["deps"] else "")
        text += "tg.h: tg.in\n\tcp tg.in tg.h\nmain.o: tg.h\n"
        if o["deps"]:
            text += "-include $(wildcard *.d)\n"
        self.files["Makefile"] = text

    def rules_autotools(self):
        self.files["configure.ac"] = ("AC_INIT([prog], [%d])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CC\nAC_PROG_RANLIB\nAM_PROG_AR\n"
                                      "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n" % self.flags["define"])
        self.files["Makefile.am"] = ("bin_PROGRAMS = prog\nprog_SOURCES = main.c\nprog_LDADD = libm.a\nnoinst_LIBRARIES = libm.a\nlibm_a_SOURCES = %s\n"
                                     "AM_CFLAGS = %s\ntg.h: tg.in\n\tcp tg.in tg.h\n" % (" ".join(m + ".c" for m in self.modules) or "gen.h",
                                                                                      self.cflags()))

    def rules_cmake(self):
        o = self.flags
        names = "file(GLOB SOURCES m*.c)\nlist(APPEND SOURCES main.c)" if o["wild"] else "set(SOURCES %s)" % " ".join(self.sources())
        self.files["CMakeLists.txt"] = ("cmake_minimum_required(VERSION 3.10)\nproject(p C)\n%s\ninclude_directories(. i1 i2)\nset(CMAKE_C_FLAGS \"%s\")\n"
                                        "add_executable(prog ${SOURCES})\n" % (names, self.cflags()))

    rules_cmake_ninja = rules_cmake

    def rules_meson(self):
        self.files["meson.build"] = ("project('p', 'c')\nadd_project_arguments('%s', language : 'c')\nexecutable('prog', %s,\n\tinclude_directories : include_directories('.', 'i1', 'i2'))\n"
                                     % ("', '".join(self.cflags().split()), ", ".join("'%s'" % s for s in self.sources())))

    def commands(self):
        return {"make": ["./prepare.sh", "make {jobs} -k", "cp $(find . -name prog -type f | sort | head -1) program"],
                "autotools": ["autoreconf -fi", "./configure", "./prepare.sh", "make", "cp prog program"],
                "cmake": ["./prepare.sh", "cmake -S . -B b", "cmake --build b", "cp $(find b -name prog) program"],
                "cmake-ninja": ["./prepare.sh", "cmake -G Ninja -S . -B b", "ninja -C b", "cp $(find b -name prog) program"],
                "meson": ["./prepare.sh", "meson setup b", "ninja -C b", "cp b/prog program"]}[self.kind]

    # -- commits

    def choose(self):
        edits = ["edit module", "edit header", "edit header", "comment", "columns", "generated", "tracked generated", "data"]
        rest = ["shadow", "shadow", "optional", "optional", "link", "folder link", "link becomes file", "add module", "remove module",
                "rename module", "file and folder", "executable", "attributes", "attributes", "wildcard", "broken", "documentation", "several"]
        flags = ["flag"] if not (self.tidy and self.kind == "autotools") else []  # Automake's objects do not depend on the Makefile
        nasty = ["leave", "leave", "mangle", "generate", "blob", "piece", "where"]
        if self.tidy:
            return self.rng.choice(edits + flags if self.rng.random() < .85 else rest)
        return self.rng.choice(edits + flags + rest + nasty)

    def change(self):
        """One nasty change; what it was."""
        f, rng, o = self.files, self.rng, self.flags
        what = self.choose()
        name = rng.choice(self.modules) if self.modules else None
        if what == "several":
            return ", ".join(self.change() for _ in range(rng.randint(2, 4)))
        if what == "edit module" and name:
            f[name + ".c"] = f[name + ".c"].replace("return ", "return %d + " % self.value())
        elif what == "edit header":
            header = rng.choice(["i2/v.h", "la.h", "lb.h", "d1/d.h", "d2/d.h", "id.h"])
            f[header] = f[header].rsplit(" ", 1)[0] + " %d%s\n" % (self.value(), '"' if header == "id.h" else "")
        elif what == "shadow":
            if f.pop("i1/v.h", None) is None:
                f["i1/v.h"] = "#define V %d\n" % self.value()
        elif what == "optional":
            if f.pop("opt.h", None) is None:
                f["opt.h"] = "#define OPT %d\n" % self.value()
        elif what == "link" and isinstance(f["l.h"], Link):
            f["l.h"] = Link("lb.h" if f["l.h"] == "la.h" else "la.h")
        elif what == "folder link":
            f["d"] = Link("d2" if f["d"] == "d1" else "d1")
        elif what == "link becomes file":
            f["l.h"] = "#define L %d\n" % self.value() if isinstance(f["l.h"], Link) else Link("la.h")
        elif what == "add module" and len(self.modules) < 4:
            self.add_module()
            self.write_main()
        elif what == "remove module" and len(self.modules) > 1:
            self.modules.remove(name)
            del f[name + ".c"]
            self.write_main()
        elif what == "rename module" and name:
            fresh = "r%d" % self.value() if self.kind == "make" else "m%d" % self.value()
            f[fresh + ".c"] = f.pop(name + ".c").replace(name, fresh)
            self.modules[self.modules.index(name)] = fresh
            self.write_main()
        elif what == "file and folder":
            if "conf" in f:
                f["conf/conf"] = f.pop("conf")
            else:
                f["conf"] = f.pop("conf/conf")
        elif what == "executable":
            f["gen.sh"] = f["gen.sh"][0] if isinstance(f["gen.sh"], tuple) else (f["gen.sh"], "x")
        elif what == "attributes":
            lines = [l for l in ("*.txt eol=crlf", "*.txt ident", "id.h ident", "la.h text eol=crlf", "* text=auto", "*.txt -text",
                                 "data.txt filter=none", "[attr]crlfs text eol=crlf", "data.txt crlfs") if rng.random() < .3]
            where = ".gitattributes" if rng.random() < .8 else "i2/.gitattributes"
            f.pop(where, None)
            if lines:
                f[where] = "\n".join(l for l in lines if where[0] == "." or "[" not in l) + "\n"
        elif what == "flag":
            o["define"] = 0 if o["define"] and rng.random() < .5 else self.value()
        elif what == "comment" and name:
            f[name + ".c"] = f[name + ".c"].replace("/* ", "/* %d " % self.value(), 1)
        elif what == "columns" and name:
            f[name + ".c"] = f[name + ".c"].replace("return ", "return  ", 1)
        elif what in ("leave", "broken"):
            o[what] = 0 if o[what] else 1
        elif what in ("mangle", "generate"):
            o[what] = 0 if o[what] else self.value()
        elif what == "blob":
            f["blob.bin"] = "blob %d" % self.value()
        elif what == "piece":
            f["piece.inc"] = ".byte %d\n" % (self.value() % 100)
        elif what == "generated":
            f["gen.in"] = "#define GEN %d\n" % self.value()
        elif what == "tracked generated":
            f["tg.in"] = "#define TG %d\n" % self.value()
            if self.tidy or rng.random() < .7:
                f["tg.h"] = f["tg.in"]
        elif what == "data":
            f["data.txt"] = "line %d\nline\n$Id$\n" % self.value()
        elif what == "where" and self.kind == "make":
            o["where"] = 0 if o["where"] and rng.random() < .5 else self.value()
        elif what == "wildcard":
            o["wild"] = not o["wild"]
        elif what == "documentation":
            f["README"] = "%d\n" % self.value()
        self.write_rules()
        return what

    def write_to(self, folder):
        for name in os.listdir(folder):
            if name != ".git":
                path = os.path.join(folder, name)
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        for path, text in self.files.items():
            whole = os.path.join(folder, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            if isinstance(text, Link):
                os.symlink(text, whole)
                continue
            with open(whole, "w", newline="") as file:
                file.write(text[0] if isinstance(text, tuple) else text)
            os.chmod(whole, 0o755 if isinstance(text, tuple) else 0o644)


def make_history(project, folder, n):
    """[(commit, tree, what)], the first one first."""
    must(GIT + ["init", "-q", "-b", "main", folder], env=GIT_ENVIRONMENT)
    commits = []
    for i in range(n):
        project.flags["broken"] = 0
        what = ", ".join(project.change() for _ in range(project.rng.randint(1, 2))) if i > 0 else "first"
        project.write_to(folder)
        # each file as it is, whatever the attributes of the moment would make of it
        must(GIT + ["-C", folder, "add", "-A"], env=GIT_ENVIRONMENT)
        must(GIT + ["-C", folder, "commit", "-q", "--allow-empty", "-m", what], env=GIT_ENVIRONMENT)
        names = must(GIT + ["-C", folder, "rev-parse", "HEAD", "HEAD^{tree}"], env=GIT_ENVIRONMENT).decode().split()
        commits.append((names[0], names[1], what))
    return commits


# -- by hand -------------------------------------------------------------------------------------------------------

def sandbox(tree, words):
    binds = ["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink("/" + name):
            binds += ["--symlink", os.readlink("/" + name), "/" + name]
        elif os.path.isdir("/" + name):
            binds += ["--ro-bind", "/" + name, "/" + name]
    return (["bwrap", "--unshare-pid", "--unshare-net", "--unshare-uts", "--hostname", "solverfs", "--die-with-parent", "--clearenv"] + binds
            + ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", tree, "/build", "--chdir", "/build"]
            + [w for name, value in ENVIRONMENT.items() for w in ("--setenv", name, value)] + words)


def by_hand(folder, commit, commands, scratch):
    """The program's digest, or None when the commit cannot be built; and what was printed."""
    tree = os.path.join(scratch, "tree")
    must(GIT + ["-C", folder, "worktree", "add", "-q", "--detach", tree, commit], env=GIT_ENVIRONMENT)
    try:
        os.unlink(os.path.join(tree, ".git"))
        # Git leaves it to chance which of two files is the newer one.
        must(["find", tree, "-exec", "touch", "-h", "-d", "@315532800", "{}", "+"])
        done = run(sandbox(tree, ["sh", "-c", "umask 022\n" + "\n".join("(%s) || exit 1" % c.replace("{jobs}", "") for c in commands)]))
        program = os.path.join(tree, "program")
        ok = done.returncode == 0 and os.path.isfile(program)
        return hashlib.sha256(open(program, "rb").read()).hexdigest() if ok else None, done.stdout
    finally:
        shutil.rmtree(tree)
        must(GIT + ["-C", folder, "worktree", "prune"], env=GIT_ENVIRONMENT)


# -- by solverfs ---------------------------------------------------------------------------------------------------

class Store:
    def __init__(self, command, folder):
        self.command, self.environment = command, dict(os.environ, SOLVERFS_STORE=os.path.join(folder, "store"), SOLVERFS_SLOTS=os.path.join(folder, "slots"))
        must([command, "init"], env=self.environment)

    def call(self, words):
        return subprocess.run([self.command, "-q"] + words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def recipe(self, project, repository, number, folder):
        path = os.path.join(folder, "recipe")
        with open(path, "w") as file:
            file.write("[solver]\nformat = cnf\nrun = {bin} {case}\noutput = program\nenvironment = PASS=%d\n" % number)
            for command in project.commands() if number % 4 > 1 else [" && ".join(project.commands())]:
                file.write('build = "%s"\n' % command.replace("{jobs}", "-j{jobs}").replace('"', '\\"'))
        if number > 0:
            self.call(["solver", "remove", "p"])
        done = self.call(["solver", "add", "p", repository, "--recipe", path])
        if done.returncode != 0:
            sys.exit(done.stderr.decode())

    def build(self, commits, again=False):
        """commit -> digest or None. An overloaded machine is no answer: it is asked again, and in the end left out."""
        result = {}
        for _ in range(5):
            left = [c for c in commits if c not in result]
            if left:
                done = self.call(["build", "--json"] + (["--again"] if again else []) + ["p"] + left)
                for line in done.stdout.decode().splitlines():
                    row = json.loads(line)
                    result[row["commit"]] = row["outputs"][0]["sha256"] if row["ok"] else None
        if len(result) < len(commits) // 2:
            sys.exit("build: %d answers for %d commits\n%s" % (len(result), len(commits), done.stderr.decode()[-3000:]))
        return result

    def log(self, commit):
        return self.call(["build", "--log", "p", commit]).stdout


# -- all of it -----------------------------------------------------------------------------------------------------

KINDS = {"make": 45, "cmake": 15, "cmake-ninja": 18, "meson": 15, "autotools": 7}  # shares of the builds
TOOLS = {"make": "make", "cmake": "cmake make", "cmake-ninja": "cmake ninja", "meson": "meson ninja", "autotools": "autoreconf automake make"}
COMMITS = {"make": 1, "cmake": .5, "cmake-ninja": .5, "meson": .5, "autotools": .25}


def next_kind(kinds, counts):
    """The one that is furthest behind its share."""
    return min(kinds, key=lambda k: counts[k]["builds"] / KINDS[k])


def compare(commits, wanted, results, tell):
    """How many of a pass's programs are wrong."""
    wrong = 0
    for commit, tree, what in commits:
        if commit in results and results[commit] != wanted[tree][0]:
            wrong += 1
            tell(commit, tree, what, results[commit])
    return wrong


def one_project(options, seed, kind, counts):
    rng = random.Random(seed)
    project = Project(kind, rng)
    folder = tempfile.mkdtemp(prefix="builds.", dir=options.folder)
    wrong = 0
    try:
        repository = os.path.join(folder, "r")
        commits = make_history(project, repository, max(int(options.commits * COMMITS[kind]), 4))
        wanted = {}
        for commit, tree, what in commits:
            if tree not in wanted:
                wanted[tree] = by_hand(repository, commit, project.commands(), folder)
            for change in what.split(", "):
                counts["changes"][change] = counts["changes"].get(change, 0) + 1
        store = Store(options.command, folder)
        for number in range(options.passes):
            def tell(commit, tree, what, digest):
                print("WRONG: project %d (%s, %s), pass %d, commit %s (%s): %s instead of %s\n-- by hand\n%s\n-- by solverfs\n%s" % (
                    seed, kind, "tidy" if project.tidy else "nasty", number, commit[:12], what, digest,
                    wanted[tree][0], wanted[tree][1].decode(errors="replace")[-1500:], store.log(commit).decode(errors="replace")[-1500:]),
                    flush=True)
            store.recipe(project, repository, number, folder)
            order = list(commits)
            rng.shuffle(order)
            got = store.build([c for c, _, _ in order])
            some = [c for c, _, _ in order[:len(order) // 8]]
            again = store.build(some, again=True) if number == options.passes - 1 and some else {}
            for results in (got, again):
                wrong += compare(commits, wanted, results, tell)
            counts[kind]["builds"] += len(set(t for c, t, _ in commits if c in got)) + len(again)
            counts["no answer"] += sum(c not in got for c, _, _ in commits)
        counts[kind]["projects"] += 1
        counts["tidy"] += project.tidy
        counts[kind]["built"] += sum(w[0] is not None for w in wanted.values())
        counts["unbuildable"] += sum(w[0] is None for w in wanted.values())
        counts["by hand"] += len(wanted)
    finally:
        if wrong and options.keep:
            print("kept in %s" % folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return wrong


def say(counts, wrong, kinds, began, seed):
    print("%d wrong of %d builds; %s; %s; %.0f s; next seed %d" % (
        wrong, total(counts, kinds), ", ".join("%s %d of %d" % (k, counts[k]["builds"], counts[k]["projects"]) for k in kinds),
        ", ".join("%s %d" % (k, v) for k, v in counts.items() if isinstance(v, int)), time.time() - began, seed), flush=True)


def total(counts, kinds):
    return sum(counts[k]["builds"] for k in kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", type=int, default=10000, help="how many builds to compare (10000)")
    parser.add_argument("--commits", type=int, default=40, help="of a project (40; half of it with CMake and Meson, a quarter with autotools)")
    parser.add_argument("--passes", type=int, default=8, help="over each project (8)")
    parser.add_argument("--seed", type=int, default=None, help="of the first project; the others follow")
    parser.add_argument("--kinds", help="only these: " + ",".join(KINDS))
    parser.add_argument("--keep", action="store_true", help="leave projects with a wrong program where they are")
    parser.add_argument("--folder", help="where to work")
    parser.add_argument("command", metavar="SOLVERFS")
    options = parser.parse_args()
    options.command = os.path.abspath(options.command)
    seed = test_seed(options.seed)
    asked = options.kinds.split(",") if options.kinds else list(KINDS)
    kinds = [k for k in asked if all(shutil.which(t, path=ENVIRONMENT["PATH"]) for t in TOOLS[k].split())]
    for kind in set(asked) - set(kinds):
        print("left out: %s, which takes %s" % (kind, TOOLS[kind]))
    if not kinds:
        sys.exit("nothing can be built here")
    counts = {k: {"builds": 0, "projects": 0, "built": 0} for k in kinds}
    counts.update({"tidy": 0, "by hand": 0, "unbuildable": 0, "no answer": 0, "changes": {}})
    wrong, began = 0, time.time()
    print("seed %d" % seed, flush=True)
    while total(counts, kinds) < options.builds:
        wrong += one_project(options, seed, next_kind(kinds, counts), counts)
        seed += 1
        say(counts, wrong, kinds, began, seed)
    print("commits by what they changed: " + ", ".join("%s %d" % c for c in sorted(counts["changes"].items())))
    # That nothing comes of a commit on either side is equal, too, but says little.
    broken = [k for k in kinds if counts[k]["projects"] and not counts[k]["built"]]
    if broken or counts["unbuildable"] > counts["by hand"] / 2:
        print("by hand %d of %d commits could not be built; none of %s" % (counts["unbuildable"], counts["by hand"], ", ".join(broken) or "some projects"))
        wrong += 1
    sys.exit(1 if wrong else 0)


main()
