"""Writes the calls into libraries that only some commands need: each is a jump through a slot, which the first call fills (delayed.c).

    delayed.py COMPILER NM READELF OUT LIBRARY,LIBRARY... ARCHIVE...

The archives are what is linked: every function of the libraries that they call gets a slot. delayed.h has the assembly of each processor.
"""
import os
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(nm, *arguments):
    lines = (line.split() for line in run(nm, *arguments).splitlines())
    return {words[-1].partition("@")[0]: words[-2] for words in lines if len(words) >= 2}


def soname(readelf, path):
    for line in run(readelf, "-d", path).splitlines():
        if "(SONAME)" in line:
            return line[line.index("[") + 1:line.index("]")]
    sys.exit(f"{path} has no soname")


compiler, nm, readelf, out, libraries, *archives = sys.argv[1:]
wanted = {name for archive in archives for name, kind in symbols(nm, "-u", archive).items() if kind == "U"}
names, functions = [], []
for index, library in enumerate(libraries.split(",")):
    path = os.path.realpath(run(compiler, f"-print-file-name=lib{library}.so").strip())
    names.append(soname(readelf, path))
    given = symbols(nm, "-D", "--defined-only", path)
    used = sorted(wanted & given.keys())
    data = [name for name in used if given[name] not in "TtWwi"]
    if data:
        sys.exit(f"{path}: {data[0]} is no function, so that it cannot be delayed")
    functions += [(index, name) for name in used]

with open(out, "w") as f:
    f.write('#include "delayed.h"\n\t.text\n')
    for i, (_, name) in enumerate(functions):
        f.write(f"\t.globl {name}\n\t.hidden {name}\n\t.type {name}, @function\n\tDELAYED_CALL {name} {i}\n\t.size {name}, . - {name}\n")
    f.write("DELAYED_FIRST\n\t.section .data.delayed, \"aw\"\n\t.balign 8\n\t.globl delayed_slots\n\t.hidden delayed_slots\ndelayed_slots:\n")
    f.writelines(f"\t.quad .Ldelayed{i}\n" for i in range(len(functions)))
    f.write('\t.section .data.rel.ro, "aw"\n\t.balign 8\n')
    for table, texts in (("delayed_libraries", names), ("delayed_functions", [name for _, name in functions])):
        f.write(f"\t.globl {table}\n\t.hidden {table}\n{table}:\n")
        f.writelines(f"\t.quad 2{i}f\n" for i in range(len(texts)))
        f.writelines(f"2{i}:\t.asciz \"{text}\"\n" for i, text in enumerate(texts))
        f.write("\t.balign 8\n")
    f.write("\t.section .rodata\n\t.globl delayed_owners\n\t.hidden delayed_owners\ndelayed_owners:\n")
    f.writelines(f"\t.byte {index}\n" for index, _ in functions)
    f.write('\t.section .note.GNU-stack, "", @progbits\n')
