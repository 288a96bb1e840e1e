#!/bin/bash
# Alarms of another store taken into this one: with their marks and the ids that cases have here, known again by their cause, told to nobody a second
# time; killed at any point and said again; damaged. Prints TAP. Usage: test_import_alarms.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time

make_repository hist
toy() { # toy NAME SECONDS ANSWER: a commit of the solver. Its subject is its name.
	printf '#!/bin/sh\n# %s\necho "lasts %s" >&2\necho %s\n' "$1" "$2" "$3" >hist/toy.sh
	echo 'cp toy.sh toy && chmod +x toy' >hist/build.sh
	git -C hist add -A && git -C hist commit -q -m "$1"
}
at() { SOLVERFS_STORE=$top/$1 SOLVERFS_MACHINE=depot timeout -k 5 200 "$solverfs" -q "${@:2}" >other.out 2>other.err </dev/null; }
watch() { # watch STATUS OPTION...: in the other store
	local status=$1
	shift
	at other watch toy --once "$@"
	[ $? = "$status" ]
}
toy_recipe toy
printf '(set-info :status sat)\n(check-sat)\n' >a.smt2
printf '; of this store alone\n(check-sat)\n' >ours.smt2
for i in 1 2 3; do toy "$i" 0.003 sat; done
{ at other init && at other solver add --recipe toy.recipe toy hist && at other case add a.smt2 && watch 0; } || { cat other.out other.err; exit 1; }
at short init && at short solver add --recipe toy.recipe toy hist
toy "the culprit" 0.04 sat && toy 5 0.04 sat
watch 6 || { cat other.out other.err; exit 1; }
echo 'exit 7' >hist/build.sh && git -C hist commit -qam "no luck"
watch 6 || { cat other.out other.err; exit 1; }
at other alarms toy --mark 1 reported https://example.org/1
at other alarms toy --json && cp other.out there
# This store has another case of the id that is the other's.
run 0 init && run 0 case add ours.smt2 && run 0 solver add --recipe toy.recipe toy hist
cp -r store before
alarms() { run 0 alarms toy --json && cp out here; }
# same_as_there: but for the ids of cases
same_as_there() {
	alarms && python3 - <<'END'
import json
def rows(path):
    rows = [json.loads(line) for line in open(path)]
    for r in rows:
        r.pop("reproduce") # names cases
        for c in r["cases"]:
            c.pop("case")
    return rows
assert rows("there") == rows("here"), (rows("there"), rows("here"))
END
}

test_that "the other store has two" '[ "$(wc -l <there)" = 2 ]'
test_that "alarms come over, and it is told" 'run 0 import other && has err "^2 alarms were imported" && same_as_there && grep -q "\"mark\": *\"reported\"" here'
test_that "... with the ids that cases have here" '
	run 0 case list && id=$(grep a.smt2 out | cut -f 1) && [ "$id" != 1 ] && [ "$(jq -r ".cases[].case" here)" = "$id" ] && run 0 alarms toy 1 && has out "^reproduce .* $id$"'
test_that "the same again changes nothing" 'run 0 import other --json && jq -e ".alarms == 0 and .\"known-alarms\" == 2" out >/dev/null && same_as_there'
test_that "no command is told of what another store met" '
	run 0 watch toy --once --on-alarm "touch told" && toy "as slow as before" 0.04 sat && run 0 watch toy --once --on-alarm "touch told" && [ ! -e told ] && same_as_there'
test_that "a mark that was made there since is known here; one that contradicts ours is told, and ours stays" '
	at other alarms toy --mark 2 confirmed && run 0 import other && alarms && [ "$(jq -r .mark here | paste -sd " ")" = "reported confirmed" ] &&
	run 0 alarms toy --mark 2 rejected && run 0 import other && has err "^toy alarm 2 is rejected  ?here, and confirmed  ?there, where it is 2: here it stays as it is$" &&
	alarms && [ "$(jq -r .mark here | paste -sd " ")" = "reported rejected" ]'
test_that "by way of a third store, it is the same" 'at third init && at third solver add --recipe toy.recipe toy hist && at third import store && at third alarms toy && [ "$(wc -l <other.out)" = 2 ]'
test_that "of a solver that is not here they are passed over" 'at empty init && at empty import other --json && jq -e ".alarms == 0 and .\"passed-over\" >= 2" other.out >/dev/null'
at other alarms toy --json && cp other.out there
test_that "of commits that are not here, too; the update and the same import take them" '
	at short import other --json && jq -e ".alarms == 0 and .\"passed-over\" >= 2" other.out >/dev/null && at short solver update toy && at short import other --json && jq -e ".alarms == 2" other.out >/dev/null'
killed() { # killed PLACE: at each time that it comes by the place, until it comes to its end
	local i=0 got
	rm -rf store && cp -r before store
	while :; do
		rm -f "faults/$1.met"
		echo "kill after $i" >faults/new && mv faults/new "faults/$1"
		{ timeout -k 5 60 "$solverfs" -q import other >out 2>err </dev/null; } 2>/dev/null
		got=$?
		rm -f "faults/$1"
		[ $got = 0 ] && [ "$i" -gt 0 ] && break
		[ $got = 137 ] || return 1
		i=$((i + 1))
	done
	same_as_there
}
test_that "killed behind one transaction after the other, and said again" 'killed store.committed'
echo "1..$n"
