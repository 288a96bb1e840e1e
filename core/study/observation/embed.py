#!/usr/bin/env python3
"""Writes verify.sh as a C string, verify_script: embed.py OUTPUT VERIFY_SH"""
import json
import pathlib
import sys

output, script = map(pathlib.Path, sys.argv[1:])
lines = script.read_text(encoding="ascii").splitlines(keepends=True)
output.write_text("extern const char verify_script[];\nconst char verify_script[] =\n" + "\n".join(map(json.dumps, lines)) + ";\n")
