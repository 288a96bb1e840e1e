#!/usr/bin/env python3
"""Do the printed commands run? Those of help texts, of the manual, of the documents and of examples/README.md, each where a reader would run it.

    tests/tools/test_printed.py SOLVERFS [PAGE...]          such as howto.md; all

They are found in blocks (behind "$ ", in sh blocks, indented) and at the ends of helps, and run over solvers that are made up, with the names, tags and
cases that the pages use. A document that begins with `solverfs init` has a store of its own; all others share one. What is changed before a command
runs is in CHANGED, what cannot run here in NOT_RUN, with the reason; of these the options are parsed all the same. Commands in a sentence (`solverfs …`)
are looked at for options that are not there. The tutorial is run by tests/examples. Prints TAP.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

solverfs, source, wanted = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[2], sys.argv[2:]

top = pathlib.Path(tempfile.mkdtemp(prefix="solverfs-printed-"))
plain = pathlib.Path(tempfile.mkdtemp(prefix="solverfs-printed-", dir="/tmp"))  # its name is one word of a command, wherever TMPDIR is
(plain / "bin").symlink_to(top / "bin")
CHANGED = [  # pattern, what stands in its place: times that are long, many cases, numbers of findings, names that are taken, places of the reader's machine
    (r"--((?:localize-|reduce-)?for) \w+", r"--\1 200ms"),
    (r"watch (?!.*--once)(\w+)", r"watch \1 --once"),
    (r"--(mark|all) \d+", r"--\1 1"),
    (r"\bspr/\d+", "spr/1"),
    (r"(?<=alarms z3 )3\b", "1"),
    (r"(?<=reduce )programs", "z3"),
    (r"portfolio add (\w+)", r"portfolio add \1-again"),
    (r"solver add (z3|mine) ", r"solver add --replace \1 "),
    (r"compare main HEAD", "compare z3@main z3@HEAD"),  # with one solver in the store, its name may be left out
    (r"exec:/usr/bin/cvc5", f"exec:{plain}/bin/cvc5"),
    (r"exec:/usr/bin/\w+", f"exec:{plain}/bin/z3"),
    (r"exec:/opt/[\w.-]+", f"'exec:{plain}/bin/z3 smt.random_seed=1'"),
    (r"programs 'Z3-\*'", "programs 'z3@*'"),
    (r"\banother\.cnf", "another.smt2"),
    (r"https://github.com/arminbiere/kissat", "kissat"),
    (r"~/src/\w+|src/kissat", "toy"),
    (r"~/benchmarks/sat-2023", "cases"),
    (r"/mnt/usb/store", "other"),
    (r"/mnt/solvers|~/solvers", "mnt"),
    (r"--seeds 10\b", "--seeds 1"),
    (r"--target z3-4.8.8 --floor 2s", "--target z3-4.8.9 --floor 200ms"),
    (r"mnt/toy/head", "mnt/strand/head"),
    (r"cvc5@cvc5-1\.2\.0\+cadical", "cvc5@cvc5-1.0.0+lib=kissat"),
    (r"cvc5\+cadical@rel-2\.1\.0", "cvc5+lib=kissat@rel-4.0.4"),
    (r"42#17", "42#1"),
    (r"^(solverfs compare (?!.*--set)(?:\S+@\S+ \S+@\S+|(?:exec:\S+|'exec:[^']*') (?:exec:\S+|'exec:[^']*')))(?= -|$)", r"\1 1 2"),  # and not on all cases
    (r"^(solverfs run (?:'?exec|kissat) ?.*) all$", r"\1 1-3"),
    (r"HEAD~10..HEAD 1-20", "HEAD~3..HEAD 1-3"),
    (r"rel-2\.0\.0", "rel-4.0.0"),
    (r"rel-2\.1\.0", "rel-4.0.4"),
]
NOT_RUN = [  # pattern, why
    (r"--on lab", "wants a cluster: tools/test_cluster*.sh"),
    (r"soundness/|incompleteness/1|grep assert|mnt/.*/(?:spr|alarms)\b", "wants what real campaigns and watches found: tools/test_campaign.sh, test_watch.sh"),
    (r"--set 78feac446", "wants findings that are localized: tools/test_localize.sh"),
    (r"z3=mnt|\$z3 ", "wants Z3"),
    (r"^(?:table-generator|asv|python3 welch|cut -f1,2,4|cat asv|firefox|systemctl|journalctl)", "another tool's"),
    (r"tests/bench/|tools/demo\.sh", "takes minutes"),
    (r"^(?:\d+ \*|export PATH|echo \$\?)", "a line of a crontab, of a profile, after another one"),
    (r"git bisect|^A=|^for c|^cd ", "wants this repository's own history: tests/examples"),
    (r"\b(?:NAME|REPO|FILE)\b|…", "a pattern, not a command"),
    (r"smtinterpol|theirs\.xml|r\.xml\.bz2|--machine (?:tortuga|depot|apollon001)", "wants other machines' results: tools/test_import.sh"),
    (r"getfattr", "wants getfattr"),
]
MAY_FAIL = r"solverfs (?:-q )?(?:localize|options|compare|run|reduce|watch|doctor|triage)\b"  # status 1: there is something to tell

TAGS = [["v1", "z3-4.8.7", "rel-3.1.1", "strand-0.1", "ace75ced", "cvc4-1.8", "c9f0479"], ["z3-4.8.8", "v1.0"], ["fdc87f286"], ["086331a24b", "z3-4.8.9", "v2", "sc2024"],
        ["strand-0.2", "f18da5ea", "f8eddbc6", "v1.1"], ["rel-4.0.0", "cvc5-1.0.0", "cvc5-1.1.2"], ["z3-4.8.17", "rel-4.0.4", "v3"], []]
SOLVERS = ["z3", "kissat", "cvc5", "strand", "toy", "mysolver", "mine", "z3seq", "z3str3", "cvc4", "cvc", "epochs"]
CASES = ["QF_S/a.smt2", "QF_S/b.smt2", "slow/a.smt2", "slow/b.smt2", "unsat-02.smt2", "sat-02.smt2", "c1.smt2", "c2.smt2", "QF_S114.smt2", "QF_S3.smt2",
         *[f"z3seq{n}.smt2" for n in (120, 125, 142, 193, 201, 46, 48, 55)], *[f"case{n}.smt2" for n in range(19, 50)]]
results = []


# -- what is printed ---------------------------------------------------------------------------------------------------


def is_open(command):
    """Does it go on in the next line? A backslash at the end, or a quote."""
    try:
        shlex.split(command.removesuffix("\\"), comments=True)
        return command.endswith("\\")
    except ValueError:
        return True


def of_document(text):
    found, kind = [], None
    for line in text.splitlines():
        if line.startswith("```"):
            kind = line[3:] if kind is None else None
        elif kind is not None and found and is_open(found[-1]):
            found[-1] = found[-1].removesuffix("\\") + ("" if found[-1].endswith("\\") else "\n") + line
        elif kind is not None and (line.startswith("$ ") or (line and kind == "sh") or re.match(r"solverfs [a-z]", line)):
            found.append(line.removeprefix("$ "))
        elif kind is None and re.match(r"    (solverfs|firefox) ", line):
            found.append(line.strip())
    return [c for c in found if not c.startswith("#")]


def of_page(text):
    """scdoc: an example is a line behind a tab, with ++ where it goes on; backslashes escape."""
    lines = [re.sub(r"\\(.)", r"\1", line.strip().removesuffix("++")) for line in text.partition("# EXAMPLE")[2].splitlines() if re.match(r"\t?solverfs .*\+\+$|\tsolverfs ", line)]
    return of_document(text) + lines


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


def help_of(command):
    return run([solverfs, *command.split(), "--help"], env={**os.environ, "ARGP_HELP_FMT": "rmargin=400"}).stdout


def in_sentences(text):
    return re.findall(r"`(solverfs [a-z][^`]*)`", re.sub(r"(?ms)^```.*?^```", "", text))


# -- where it runs -----------------------------------------------------------------------------------------------------

env = {**os.environ, "HOME": str(top / "home"), "SOLVERFS_STORE": str(top / "store"), "SOLVERFS_SLOTS": str(top / "slots"), "SOLVERFS_FAULTS": str(top / "faults"),
       "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C.UTF-8", "PATH": f"{top}/bin:{solverfs.parent}:{os.environ['PATH']}"}
for name in ("XDG_DATA_HOME", "SOLVERFS_RECIPES", "NOTIFY_SOCKET"):
    env.pop(name, None)
has_mounts = os.access("/dev/fuse", os.W_OK)


def shell(command, folder, store=None, limit=300):
    return run(["timeout", "-k", "5", str(limit), "bash", "-o", "pipefail", "-c", command], cwd=folder,
               env={**env, **({"SOLVERFS_STORE": str(store)} if store else {})}, stdin=subprocess.DEVNULL)


def must(command, folder=top):
    done = shell(command, folder)
    if done.returncode != 0:
        sys.exit(f"the stage: {command}: {done.returncode}\n{done.stdout}{done.stderr}")


SOLVER = r"""#include <stdio.h>
#include <string.h>
static char text[1 << 20]; /* commit %d */
int main(int argc, char **argv)
{
        const char *file = 0;
        for (int i = 1; i < argc; i++)
                if (!strcmp(argv[i], "--help"))
                        return puts("usage: solver [--seed=N] FILE"), 0;
                else if (argv[i][0] != '-')
                        file = argv[i];
        FILE *f = file ? fopen(file, "r") : 0;
        if (!f)
                return 3;
        text[fread(text, 1, sizeof(text) - 1, f)] = 0;
        puts(!strstr(text, "check-sat") ? "parse error" : strstr(text, "(not p") ? "unsat" : "sat");
        fputs("lasts 0.%d\\n", stderr);
        return puts("conflicts: %d"), 0;
}
"""
RECIPE = """[solver]
	format = smt2
	build = make
	output = solver
	run = {bin} {seed} {case}
	seed = --seed={n}
	effort = "conflicts: ([0-9]+)"
	samples = 1
"""


def commit(repository, n, tags=()):
    """From the fourth on it is slower, and slower still at the end."""
    slow = 0 if n < 3 else 1 if n + 1 < len(TAGS) else 2
    for path in ("main.c", "examples/strand/main.c"):
        (repository / path).write_text(SOLVER % (n, [1, 4, 9][slow], [1000, 4000, 9000][slow]))
    must(f"git add -A && GIT_COMMITTER_DATE=2024-01-0{n + 1}T00:00:00Z git commit -q --date 2024-01-0{n + 1}T00:00:00Z -m 'commit {n}'", repository)
    for tag in tags:
        must(f"git tag {tag}", repository)


def make_folder():
    """What a reader's folder has: a solver's clone under each of its names, cases, recipes, another store."""
    folder = top / "folder"
    repository = folder / "toy"
    for path in (repository, top / "home", top / "faults", top / "bin", folder / "cases/QF_S", folder / "cases/slow"):
        path.mkdir(parents=True)
    (top / "faults/run.clock").write_text("fail ETIME\n")  # runs say how long they last
    must("git init -q -b main . && git config user.name T && git config user.email t@example.org && git branch -m main", repository)
    for path in ("examples/cases", "examples/strand/bench/cases/overlap"):
        shutil.copytree(source / path, repository / path)
    (repository / "Makefile").write_text("solver: main.c\n\t$(CC) -o $@ main.c\n")
    (repository / "examples/strand/Makefile").write_text("strand: main.c\n\t$(CC) -o $@ main.c\n")
    must("for i in 1 2 3 4 5; do git commit -q --allow-empty -m before; done", repository)
    for n, tags in enumerate(TAGS[:-1]):
        commit(repository, n, tags)
    must("git branch master && git branch release/1", repository)
    for name in [*SOLVERS, "my"]:
        (folder / f"{name}.recipe").write_text(RECIPE)
    for n, name in enumerate(CASES):
        (folder / "cases" / name).write_text(f"(set-logic QF_S)\n(declare-fun x{n} () String)\n(assert (= x{n} \"a\"))\n(check-sat)\n")
    for name in ("queries", "dir", "formulas", "seeds", "figures"):
        shutil.copytree(folder / "cases", folder / name)
    for name in ("bug.smt2", "another.smt2"):
        (folder / name).write_text(f"; {name}\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n")
    z3 = "for case; do :; done; echo ASSERT >&2; [ -f \"$case\" ] || case=/dev/stdin; while read -r line; do [ \"$line\" != '(check-sat)' ] || echo sat; done <\"$case\""
    for name, text in (("z3", z3), ("cvc5", "echo sat"), ("mail", "cat >/dev/null")):
        (top / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (top / "bin" / name).chmod(0o755)
    for name in ("BV.tsv", "Sage2.tsv"):
        (folder / name).write_text("query\tf\ta_result\ta_seconds\tb_result\tb_seconds\n" + "".join(f"q{n}\t{n}\tsat\t{n}.5\tsat\t{9 - n}.5\n" for n in range(9)))
    for name in ("kissat", "z3", "strand", "solverfs"):
        (folder / name).symlink_to("toy")
    return folder


def make_store(folder):
    must("solverfs -q init && solverfs -q case add cases", folder)
    for name in SOLVERS:
        must(f"solverfs -q solver add {name} toy --recipe {name}.recipe", folder)
    must("for s in smoke mine ci QF_S strings; do solverfs -q set add $s 1 2; done; solverfs -q portfolio add strings z3 cvc5 && solverfs -q portfolio add p z3 cvc5 && "
         "solverfs -q run z3 z3-4.8.7 z3-4.8.8 z3-4.8.9 17 1-2 && solverfs -q --store other init && solverfs -q watch z3 --set smoke --once", folder)
    must("solverfs -q fuzz z3 --name stage --reference z3-4.8.7 --target z3-4.8.9 --for 20s --max-finds 1 --threshold 200ms --timeout 1s --no-localize --no-reduce -j 1", folder)
    commit(folder / "toy", len(TAGS) - 1)
    must("solverfs -q watch z3 --set smoke --once || [ $? = 6 ]", folder)
    if has_mounts:
        must("mkdir mnt && solverfs -q mount mnt", folder)


# -- running it --------------------------------------------------------------------------------------------------------


def judge(command, folder, store, count=[0]):
    if "/mnt/" in command:
        folder, store = shared, None
    for pattern, text in CHANGED:
        command = re.sub(pattern, text, command)
    if re.match("solverfs (fuzz|incompleteness) ", command) and "--name" not in command:
        count[0] += 1
        command += f" --name campaign-{count[0]}"
    reason = next((why for pattern, why in NOT_RUN if re.search(pattern, command)), None)
    if not reason and re.search(r"\bmnt\b|solverfs mount", command) and not has_mounts:
        reason = "no /dev/fuse here"
    if not reason:
        done = shell(command, folder, store)
        allowed = (0, 1, 6, 141) if re.match(MAY_FAIL, command) else (0, 6, 141) if command.startswith("solverfs") else (0,)
        return None if done.returncode in allowed else f"{command}\nstatus {done.returncode}\n{done.stderr[-600:]}"
    match = re.match(r"(?:\S+ \*.* )?(solverfs [^|<>&;]*)", command)
    if not match or "a pattern" in reason:
        return None
    done = shell(match[1] + f" --store {plain}/nowhere", folder)  # parsed before a store is looked for
    return f"{command}\nis not run ({reason}), and its options are wrong:\n{done.stderr[-600:]}" if done.returncode == 2 else None


def check(name, commands, folder, store=None):
    wrong = [said for said in (judge(c, folder, store) for c in commands) if said]
    results.append((f"{name}: {len(commands)} commands", wrong))


def options_of(command, known={}):
    words = command.split()
    for n in (3, 2):
        sub = " ".join(words[1:n])
        if sub not in known:
            known[sub] = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*|(?<![\w-])-[a-zA-Z](?=[ ,\n])", help_of(sub))) if sub in names else None
        if known[sub] is not None:
            return known[sub]
    return None


def check_sentences(name, commands):
    wrong = []
    for command in commands:
        known = options_of(command)
        if known is None:
            if command.split()[1] not in groups:
                wrong.append(f"{command}: no such command")
            continue
        wrong += [f"{command}: no option {o}" for o in re.findall(r"(?<=\s)--[a-z][a-z-]*", command) if o not in known]
    results.append((f"{name}: {len(commands)} commands in sentences", wrong))


names = re.findall(r"^  ([a-z]+(?: [a-z]+)?) ", help_of("").partition("Commands:\n")[2].partition("\n\n")[0], re.M)
groups = {n.split()[0] for n in names}
documents = sorted((set(source.glob("docs/*.md")) | set(source.glob("docs/evidence/*.md"))) - {source / "docs/tutorial.md"}) + [source / "README.md", source / "examples/README.md", source / "examples/gallery/README.md"]
try:
    folder = shared = make_folder()
    make_store(folder)
    helps = {n: re.findall(r"^(?:  |Example: )(solverfs .*)", help_of(n).partition("Print program version")[2], re.M) for n in names}
    assert sum(map(len, helps.values())) > 30, helps
    for name, commands in helps.items():
        if commands and not wanted:
            check(f"solverfs {name} --help", commands, folder)
    for page in sorted(source.glob("docs/man/*.scd")) + documents:
        if wanted and page.name not in wanted:
            continue
        text = page.read_text()
        commands = (of_page if page.suffix == ".scd" else of_document)(text)
        own = None
        if "solverfs init" in commands:
            own = top / page.stem
            shutil.copytree(folder, own, symlinks=True, ignore=shutil.ignore_patterns("mnt"))
        if commands:
            check(page.name, commands, own or folder, own and own / "store")
        if page.suffix == ".md":
            check_sentences(page.name, in_sentences(text))
    check("a finding's input", ["solverfs localize z3 --reference z3-4.8.7 --target z3-4.8.9 --timeout 1s spr/1 c1.smt2 spr/1"], shared)
    if has_mounts:  # what the store itself prints; a report is read in a clone, beside the input
        must("git clone -q toy clone && cp mnt/z3/spr/1/case.smt2 .", shared)
        for page in ("z3/spr/1/report.md", "z3/alarms/1"):
            text = (shared / "mnt" / page).read_text()
            check(page, of_document(text) + in_sentences(text), shared / "clone")
finally:
    for folder in top.glob("*/mnt"):
        run([solverfs, "-q", "unmount", "--lazy", folder], env=env)
    shutil.rmtree(top, ignore_errors=True)
    shutil.rmtree(plain, ignore_errors=True)
for n, (what, wrong) in enumerate(results, 1):
    print(f"{'not ' if wrong else ''}ok {n} - {what}")
    for text in wrong:
        print("# " + text.strip().replace("\n", "\n# "))
print(f"1..{len(results)}")
