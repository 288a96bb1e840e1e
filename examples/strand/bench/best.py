#!/usr/bin/env python3
"""strand beside other solvers, by family and half: solved, PAR-2, wrong answers, models confirmed and refuted.

    bench/best.py OUT.tsv FOLDER... NAME=COMMAND... [--limit 10] [--at-most 40] [--report]

A family is what a file's name begins with (slog_stranger, norn, quad ..) or else the generator that its set-info names. Half 0 has
the files whose name's bytes have an even sum: tune on these, and believe the others. --at-most takes that many of each family, half
and status, spread evenly. Every solver runs a case before the next case begins. The limit is of CPU time (and ten times that of
wall-clock time), so that a busy machine changes little. An answer is wrong if it contradicts the file's :status, or, where that
is unknown, the answer of two other solvers.

A sat counts as checked when another solver finds the formula with the model's values in place of its variables sat: z3 of cvc5's
models, cvc5 of all others' (--checkers). A model so refuted is counted by itself: the answer may be right all the same.
--like OLD.tsv runs the cases of results that are there: results of more solvers may be put behind each other in one file.
--report makes the tables of such a file.
"""
import argparse, collections, os, re, resource, statistics, subprocess, sys, tempfile, time

NAMES = ("slog_stranger", "slent_kaluza", "slent_stranger", "norn", "quad-length", "quad", "new", "query", "QF_S", "z3seq")


def family(path, text):
    name = re.sub(r"^(un)?sat-", "", os.path.basename(path))
    for n in NAMES:
        if name.startswith(n):
            return n
    m = re.search(r"Generator:\s*([\w-]+)", text[:4000])
    return m.group(1) if m else os.path.basename(os.path.dirname(path))


def status_of(path, text):
    m = re.search(r":status\s+(sat|unsat)\b", text)
    for part in reversed(path.split("/")):
        if re.match(r"(un)?sat\b", part):
            return re.match(r"(un)?sat\b", part).group(0)
    return m.group(1) if m else "unknown"


def run(command, path, limit):
    """Answer, CPU seconds, all it printed."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        p = subprocess.run(command.split() + [path], capture_output=True, text=True, errors="replace", timeout=10 * limit,
                           preexec_fn=limits)
        out = p.stdout
    except subprocess.TimeoutExpired:
        out = ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    m = re.search(r"^(sat|unsat|unknown)$", out, re.M)
    return m.group(1) if m and seconds <= limit else "none", seconds, out


def tokens(text):
    return re.findall(r'\|[^|]*\||"(?:[^"]|"")*"|[()]|;[^\n]*|[^\s()"|;]+', text)


def forms(text):
    """The top-level forms as lists of tokens."""
    depth, form = 0, []
    for t in tokens(text):
        if t.startswith(";"):
            continue
        depth += (t == "(") - (t == ")")
        form.append(t)
        if depth == 0:
            yield form
            form = []


def values_of(output):
    """name -> (sort, tokens of the value), of the define-funs of a model."""
    found, flat = {}, [t for t in tokens(output) if not t.startswith(";")]
    for i, t in enumerate(flat):
        if t == "define-fun" and flat[i + 2:i + 4] == ["(", ")"]:
            depth, j = 0, i + 5
            while True:
                depth += (flat[j] == "(") - (flat[j] == ")")
                j += 1
                if depth == 0:
                    break
            found[flat[i + 1].strip("|")] = (flat[i + 4], flat[i + 5:j])
    return found


def with_model(text, model):
    """The formula with the model's values for its variables."""
    out = ["(set-logic ALL)"]
    for f in forms(text):
        if len(f) > 2 and f[1] in ("declare-fun", "declare-const"):
            sort, value = model.get(f[2].strip("|"), (None, None))
            if value:
                out.append("(define-fun %s () %s %s)" % (f[2], sort, " ".join(value)))
                continue
        if len(f) > 1 and f[1] in ("set-info", "set-logic", "set-option", "exit", "get-model", "get-value", "get-info"):
            continue
        out.append(" ".join(f))
    return "\n".join(out) + "\n"


OLD = {"str.in.re": "str.in_re", "str.to.re": "str.to_re", "str.to.int": "str.to_int", "int.to.str": "str.from_int",
       "str.from.int": "str.from_int", "str.from-int": "str.from_int", "re.nostr": "re.none", "re.allstr": "re.all"}


def script(text, models):
    """The case in SMT-LIB 2.6: not every solver reads the older names, or integers in QF_S."""
    text = text.replace("(set-logic QF_S)", "(set-logic QF_SLIA)")
    text = re.sub(r"(?<=[\s(])(%s)(?=[\s)])" % "|".join(map(re.escape, OLD)), lambda m: OLD[m.group(1)], text)
    body = re.sub(r"\((exit|get-model|get-info[^)]*|get-value.*)\)", "", text)
    if not models:
        return body
    return "(set-option :produce-models true)\n" + body + "\n(get-model)\n"


def cases_of(args):
    """(family, half, path, status) of the cases to run: those of the results --like, or some of the folders'."""
    if args.like:
        yield from dict.fromkeys(tuple(line.split("\t")[:4]) for line in open(args.like))
        return
    picked = collections.defaultdict(list)
    for folder in args.folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith(".smt2"):
                    path = os.path.join(root, name)
                    text = open(path, encoding="utf-8", errors="replace").read()
                    picked[family(path, text), sum(name.encode()) % 2, status_of(path, text)].append(path)
    for (fam, half, status), paths in sorted(picked.items()):
        step = max(1, len(paths) / args.at_most) if args.at_most else 1
        for i in range(int(len(paths) / step)):
            yield fam, half, paths[int(i * step)], status


def check(args, name, path, text):
    """Is the solver's model one? Asked of the others in turn until one can say."""
    open(path, "w").write(script(text, True))
    command = dict(args.solvers)[name]
    model = values_of(run(command, path, args.limit)[2])
    open(path, "w").write(with_model(script(text, False), model))
    for checker in args.checkers if not name.startswith("cvc5") else args.checkers[::-1]:
        answer = run(checker, path, args.limit)[0]
        if answer in ("sat", "unsat"):
            return "yes" if answer == "sat" else "no"
    return "open"


def measure(args):
    with open(args.out, "w") as out, tempfile.TemporaryDirectory() as tmp:
        case = os.path.join(tmp, "case.smt2")
        for fam, half, path, status in cases_of(args):
            text = open(path, encoding="utf-8", errors="replace").read()
            for name, command in args.solvers:
                open(case, "w").write(script(text, False))
                answer, seconds, _ = run(command, case, args.limit)
                checked = check(args, name, case, text) if answer == "sat" else "-"
                print(fam, half, path, status, name, answer, "%.4f" % seconds, checked, sep="\t", file=out, flush=True)


def report(args):
    rows = collections.defaultdict(dict)
    order = []
    for line in open(args.out):
        fam, half, path, status, name, answer, seconds, checked = line.rstrip("\n").split("\t")
        rows[fam, int(half), path, status][name] = (answer, float(seconds), checked)
        if name not in order:
            order.append(name)
    rows = {k: v for k, v in rows.items() if len(v) == len(order)}
    for half in (0, 1):
        print("\n**half %d**%s\n" % (half, " (tuned on)" if half == 0 else " (held out)"))
        print("| family | cases | " + " | ".join(order) + " |")
        print("|---|---|" + "---|" * len(order))
        fams = sorted({k[0] for k in rows})
        for fam in fams + ["all"]:
            cases = {k: v for k, v in rows.items() if k[1] == half and fam in (k[0], "all")}
            if not cases:
                continue
            cells = []
            for name in order:
                solved = wrong = yes = refuted = models = 0
                par2, times = 0.0, []
                for (_, _, _, status), v in cases.items():
                    answer, seconds, checked = v[name]
                    others = [v[o][0] for o in order if o != name]
                    other = "unsat" if answer == "sat" else "sat"
                    if answer in ("sat", "unsat"):
                        bad = answer != status if status != "unknown" else others.count(other) >= 2
                        wrong += bad
                        solved += not bad
                        par2 += 2 * args.limit if bad else seconds
                        models += answer == "sat"
                        yes += checked == "yes"
                        refuted += checked == "no"
                    else:
                        par2 += 2 * args.limit
                    times.append(seconds)
                cells.append("%d, %.1f, %.1f ms%s, %d/%d%s" % (solved, par2, 1000 * statistics.median(times), ", **%d wrong**" % wrong if wrong else "",
                                                              yes, models, ", **%d refuted**" % refuted if refuted else ""))
            print("| %s | %d | %s |" % (fam, len(cases), " | ".join(cells)))
    print("\nEach cell: solved, PAR-2 in seconds of CPU time, median CPU time, models confirmed of those given.")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("folders", nargs="*", help="folders, then NAME=COMMAND of each solver")
    p.add_argument("--limit", type=float, default=10)
    p.add_argument("--at-most", type=int, default=0)
    p.add_argument("--checkers", nargs=2, default=["cvc5 --strings-exp", "z3"])
    p.add_argument("--like", help="run the cases of these results")
    p.add_argument("--report", action="store_true")
    args = p.parse_intermixed_args()
    args.solvers = [tuple(f.split("=", 1)) for f in args.folders if "=" in f]
    args.folders = [f for f in args.folders if "=" not in f]
    if not args.report:
        measure(args)
    report(args)


if __name__ == "__main__":
    main()
