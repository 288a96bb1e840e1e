#!/usr/bin/env python3
"""The manual against the command: fails when a command or an option of `--help` is in no page, or a page has one that is not there.

    tests/tools/test_man.py SOLVERFS DOCS/MAN BASH-COMPLETION

An entry of a page begins with a line such as "*run* _SOLVER_ _REV_..."; what is indented below belongs to it. Prints TAP.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

solverfs, man, completion = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
results = []


def report(what, wrong, skipped=None):
    results.append((what, wrong, skipped))


@functools.cache
def help_of(command):
    asked = subprocess.run([solverfs, *command.split(), "--help"], capture_output=True, text=True, check=True)
    if asked.stderr or f"Usage: solverfs {command}" not in asked.stdout:
        results.append((f"{command} --help explains it", [asked.stdout, asked.stderr], None))
    return asked.stdout


def options_of(text):
    """Long options of a help text, as argp prints them."""
    return set(re.findall(r"^  +(?:-.(?:\s\S+)?, )?(--[a-z][a-z-]*)", text, re.M))


def entries_of(page):
    """Command -> [headings, text] of a page's section COMMANDS; a command may have several entries."""
    found, current = {}, []
    continued = False
    for line in page.partition("# COMMANDS\n")[2].partition("\n# ")[0].splitlines():
        if line.startswith("*"):
            names = [n for n in re.findall(r"(?:^|, )\*([a-z]+(?: [a-z]+)?)\*", line)]
            current = (current if continued else []) + [found.setdefault(n, ["", ""]) for n in names]
            for entry in current:
                entry[0] += line + "\n"
        for entry in {id(e): e for e in current}.values():
            entry[1] += line + "\n"
        continued = line.endswith("++")
    return found


pages = {p.name: p.read_text() for p in sorted(man.glob("*.scd"))}
documented = {}
for name, text in pages.items():
    if name != "solverfs.1.scd":
        for command, entry in entries_of(text).items():
            documented.setdefault(command, []).append((name, *entry))

top = help_of("")
commands = re.findall(r"^  ([a-z]+(?: [a-z]+)*)", top.partition("Commands:\n")[2].partition("\n\n")[0], re.M)
common = options_of(help_of("init")) & options_of(help_of("doctor")) & options_of(help_of("fuzz"))

report("the test sees the commands", [] if len(commands) > 30 and {"run", "solver add", "version"} <= set(commands) else commands)
report("the options of every command are in solverfs(1)",
       [o for o in sorted(common | {"--version"}) if f"*{o}*" not in pages["solverfs.1.scd"]])
report("every command is in a page of docs/man", [f"{c}: no entry '*{c}* ...' in any page" for c in commands if c not in documented])
report("every command in a page is there", [f"{p[0][0]}: {c}" for c, p in documented.items() if c not in commands])
report("every command is in one page only", [f"{c}: {[n for n, *_ in p]}" for c, p in documented.items() if len(p) > 1])

missing, invented = [], []
for command in commands:
    for page, heading, text in documented.get(command, []):
        options = options_of(help_of(command)) - common
        missing += [f"{page}: {command} {o}" for o in sorted(options) if not re.search(rf"\*{o}[*=]", text)]
        invented += [f"{page}: {command} {o}" for o in sorted(set(re.findall(r"\*(--[a-z-]+)\*", heading)) - options - common)]
report("every option is in the entry of its command", missing)
report("no entry has an option that the command does not take", invented)

report("no example of --help is longer than a line", [f"{c}: {e}" for c in commands for e in re.findall(r"^(?:  |Example: )(solverfs .*)\n(?=\S)", help_of(c), re.M)])

keys = [k for k, kind in re.findall(r'^        \{"([a-z0-9-]+)", (KIND_[A-Z]+)', (man.parents[1] / "core/recipe/recipe.c").read_text(), re.M) if kind != "KIND_RETIRED"]
both = pages["solverfs-recipe.5.scd"] + pages["solverfs-config.5.scd"]
report("every key of a recipe is in solverfs-recipe(5), or solverfs-config(5)",
       [k for k in keys if f"*{k}*" not in both and f"_{k}_" not in both] if len(keys) > 20 else ["the table was not found"])

takes_words = re.findall(r"^  ([a-z]+(?: [a-z]+)*) [A-Z[]", top, re.M)
arms = {a.strip(' "') for names in re.findall(r'^\t([a-z" |]+)\)', completion.read_text(), re.M) for a in names.split("|")}
report("every command that takes words has an arm in the completion of bash", [c for c in takes_words if c not in arms])


def offered_by_bash(*words):
    script = '. "$1"; shift; COMP_WORDS=(solverfs "$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _solverfs; printf "%s\\n" "${COMPREPLY[@]}"'
    path = os.path.dirname(os.path.abspath(solverfs)) + ":" + os.environ["PATH"]
    return subprocess.run(["bash", "-c", script, "bash", completion, *words], capture_output=True, text=True, env={**os.environ, "PATH": path}).stdout.split()


report("bash offers every option of every command", [f"{c}: {o}" for c in commands for o in sorted(options_of(help_of(c)) - {"--version"} - set(offered_by_bash(*c.split(), "--")))])
report("bash offers every command", [c for c in commands if c.split()[-1] not in offered_by_bash(*c.split()[:-1], "")])


def completed_by_zsh(text):
    """Command -> its long options; subcommands stand by their last word, under a function of their group."""
    found, group = {}, ""
    for line in text.splitlines():
        begun = re.match(r"_solverfs_([a-z]+)\(\)", line) or re.match(r"\t?case \$\{?([a-z]+)", line)
        group = begun.group(1) if begun else group
        for names, arguments in re.findall(r"^\s*([a-z |]+)\) _arguments (.*)", line):
            for name in names.split("|"):
                found.setdefault(name.strip(), set()).update(re.findall(r"--[a-z][a-z-]*", arguments))
    return found


zsh_text = (completion.parent / "_solverfs").read_text()
zsh = completed_by_zsh(zsh_text)
report("every command that takes words has an arm in the completion of zsh, and every one of a group is in its list",
       [c for c in takes_words if c.split()[-1] not in zsh] + [c for c in commands if " " in c and not re.search(
           rf"1:what:\(([a-z ]* )?{c.split()[1]}( [a-z ]*)?\).*->{c.split()[0]}", zsh_text)])
own = {c: options_of(help_of(c)) - common for c in commands}
report("the completion of zsh has the options of every command",
       [f"{c}: {o}" for c in commands for o in sorted(own[c] - zsh.get(c.split()[-1], set()))])

files = re.findall(r'= "([a-z.]+)"', (man.parents[1] / "core/run/cell_file.c").read_text().partition("names[] = {")[2].partition("};")[0])
lists = {"solverfs-run(1)": pages["solverfs-run.1.scd"], "run --help": re.sub(r"\s+", " ", help_of("run")), "bash": completion.read_text(), "zsh": zsh_text}
report("every file of a cell is named where run --print is explained or completed",
       [f"{name}: {f}" for name, text in lists.items() for f in files if not re.search(rf"(?<![\w.]){re.escape(f)}(?![\w.]*\w)", text)] if len(files) > 8 else ["the table was not found"])

formats = re.findall(r"[a-z]+", re.search(r'EXPORT_FORMATS "(.*)"', (man.parents[1] / "core/report/export.h").read_text()).group(1).replace(" or ", " "))
lists |= {"solverfs-export(1)": "".join(t for p, t in pages.items() if "*export*" in t), "exporting.md": (man.parent / "exporting.md").read_text()}
del lists["solverfs-run(1)"], lists["run --help"]
report("every format of export is named where it is explained or completed",
       [f"{name}: {f}" for name, text in lists.items() for f in formats if f not in text] if len(formats) > 4 else ["the list was not found"])

linked = {p.removesuffix(".scd") for p in pages}
meson = (man / "meson.build").read_text()
report("every page is installed", [p for p in sorted(linked) if f"'{p}'" not in meson])
mentioned = {(n, m) for n, t in pages.items() for m in re.findall(r"\*((?:mount\.)?solverfs[a-z-]*)\*\((\d)\)", t)}
report("every command has a page, by its first word", sorted({w for c in commands if f"'{(w := c.split()[0])}'" not in meson and f"'solverfs-{w}." not in meson}))
report("every page that another names is there", sorted(f"{n}: {m[0]}({m[1]})" for n, m in mentioned if f"{m[0]}.{m[1]}" not in linked))

wrong, tools = [], [shutil.which("scdoc"), shutil.which("groff")]
if all(tools):
    for name, text in pages.items():
        made = subprocess.run(["scdoc"], input=text, capture_output=True, text=True)
        drawn = subprocess.run(["groff", "-ww", "-man", "-Kutf8", "-Tutf8", "-rLL=100n", "-z"], input=made.stdout, capture_output=True, text=True)
        wrong += [f"{name}: {line}" for line in (made.stderr + drawn.stderr).splitlines()]
report("scdoc and groff have no warnings", wrong, None if all(tools) else "no scdoc or no groff")

print(f"1..{len(results)}")
for n, (what, wrong, skipped) in enumerate(results, 1):
    print(f"{'not ok' if wrong else 'ok'} {n} - {what}" + (f" # SKIP {skipped}" if skipped else ""))
    for w in wrong:
        print("#", w)
sys.exit(any(wrong for _, wrong, _ in results))
