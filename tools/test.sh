#!/bin/bash
# Installs what is missing, builds, runs every test. Ends with a line "N passed, N failed[, N skipped]" that counts single tests,
# and exits non-zero when one failed. Names of rooms choose their tests (folders of tests/): tools/test.sh store mount. All else goes to
# meson test: tools/test.sh util, tools/test.sh --list.
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/packages.sh

packages_install || exit 1
build=$(packages_build_folder) || exit 1
packages_build "$build" || {
	echo "0 passed, 1 failed"
	exit 1
}
rm -f "$build/meson-logs/testlog.json"
arguments=()
for argument; do
	[ ! -f "tests/$argument/meson.build" ] || arguments+=(--suite)
	arguments+=("$argument")
done
# A test that hangs is ended; where others use the machine, as many times later.
patience=$(awk -v cores="$(nproc)" '{print int(1 + $1 / cores)}' /proc/loadavg)
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-$patience}
# Thousands of small stores come and go: in memory, where there is plenty that programs may be run from. TMPDIR=/var/tmp tools/test.sh: on a disk.
in_memory() {
	local program
	[ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -ge 4000000 ] && [ "$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)" -ge 8000000 ] || return 1
	program=$(mktemp /dev/shm/solverfs-XXXXXX) || return 1
	cp /bin/true "$program" && chmod +x "$program" && "$program"
	set -- $?
	rm -f "$program"
	return "$1"
}
[ -n "${TMPDIR:-}" ] || ! in_memory 2>/dev/null || export TMPDIR=/dev/shm
# Most tests wait most of the time: for limits to pass, for daemons, for slots.
meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "${TEST_PROCESSES:-$((3 * $(nproc)))}" --timeout-multiplier "$CK_TIMEOUT_MULTIPLIER" "${arguments[@]}" </dev/null
status=$?

# meson counts programs; people count tests. A Check suite ends in "100%: Checks: 12, Failures: 0, Errors: 0", a shell suite prints TAP.
python3 - "$build/meson-logs/testlog.json" <<'END'
import json, re, sys

passed = failed = skipped = 0
said = []
try:
    runs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8", errors="replace")]
except FileNotFoundError:
    runs = []
for run in runs:
    out = run.get("stdout") or ""
    good = bad = skip = 0
    for checks, failures, errors in re.findall(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", out, re.M):
        bad += int(failures) + int(errors)
        good += int(checks) - int(failures) - int(errors)
    for inside in re.findall(r"^Skipped of these: (\d+)$", out, re.M):  # each of them has a line of TAP, too
        good -= int(inside)
    for verdict, rest in re.findall(r"^(ok|not ok)\b(.*)$", out, re.M):
        if re.search(r"#\s*skip", rest, re.I):
            skip += 1
        elif verdict == "ok":
            good += 1
        else:
            bad += 1
    if run["result"] not in ("OK", "SKIP", "EXPECTEDFAIL"):
        said.append(f"{run['name']}: {run['result']}")
        said += re.findall(r"^(?:not ok.*(?:\n#.*)*|.*:[FE]:.*)", out, re.M)[:20]
    if run["result"] == "SKIP" and good + bad + skip == 0:
        skip = 1
    elif run["result"] in ("OK", "EXPECTEDFAIL"):
        good += good + bad + skip == 0
    elif run["result"] != "SKIP" and bad == 0:  # it timed out, crashed, or stopped before its plan was done
        bad = 1
    passed, failed, skipped = passed + good, failed + bad, skipped + skip
if not runs:
    print("no test ran", file=sys.stderr)
    failed = 1
if said:
    print("\n".join(["", *said, ""]))
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(failed > 0)
END
counted=$?
[ $status = 0 ] && [ $counted = 0 ]
