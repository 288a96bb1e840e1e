#!/bin/bash
# What happens to results when something that builds use is upgraded: nothing when the build never asked for it, or the bytes are the same; else the
# last program and its results stay, marked, until it is built anew. Prints TAP. Usage: test_toolchain.sh SOLVERFS
. "$(dirname "$0")/command.sh"

shared=$(mktemp -d /var/lib/solverfs-test-XXXXXX 2>/dev/null) || { echo "1..0 # SKIP /var/lib cannot be written"; exit 0; }
outside+=("$shared" "$shared.outside")
chmod 755 "$shared"

# A tool writes the program; a header that stands in front of another one gives the status that the program prints.
mkdir "$shared/first" "$shared/second"
echo unknown >"$shared/second/status.h"
tool() { # tool TEXT: text behind the program
	printf '#!/bin/sh\nfor d in first second; do if [ -e %s/$d/status.h ]; then s=$(cat %s/$d/status.h); break; fi; done\nprintf "#!/bin/sh\\necho $s\\n%s\\n"\n' "$shared" "$shared" "${1-}" >"$shared/new"
	chmod 755 "$shared/new" && mv "$shared/new" "$shared/tool"
}
tool
echo other >"$shared/unused"
run 0 init
commit() { echo "$1" >toy/a && git -C toy add -A && git -C toy -c user.name=Toy -c user.email=toy@example.org commit -qm "$1" && git -C toy tag "$1"; }
git init -q -b main toy && commit one && commit two
printf '(set-logic QF_LIA)\n(check-sat)\n' >a.smt2
printf '[solver]\n  build = %s/tool >made && chmod +x made\n  output = made\n  run = {bin} {case}\n  samples = 1\n  dependency = %s\n' "$shared" "$shared" >toy.recipe
run 0 solver add toy toy --recipe toy.recipe
run 0 case add a.smt2
changed() { run 0 build --json toy "$1" && has out "\"toolchain_changed\": *\"$2\""; }
unchanged() { run 0 build --json toy "$1" && has out '"toolchain_changed": *null'; }
answers() { run 0 run toy "$1" a.smt2 && [ "$(field 2)" = "$2" ]; }

test_that "the results of two commits" 'run 0 run toy one two a.smt2 && answers one unknown && answers two unknown && unchanged one'
test_that "a file that no build asked for changes: nothing happens" 'echo more >"$shared/unused" && touch "$shared/bison" && unchanged one && answers one unknown'
before=$(cat "$shared/tool")
test_that "a tool that was used changes: it is said, and all results stay" '
	tool "# of two" && changed one "$shared/tool" && answers one unknown && run 0 build toy one && has out "toolchain changed" && has err "build --renew" &&
	run 0 history --known toy a.smt2 && has err "^toy: toolchain changed: $shared/tool is not what 2 of the commits were built with" && [ "$(grep -c unknown out)" -ge 1 ]'
test_that "so do a comparison and the page" '
	run 0 compare toy@one toy@two --known && [ "$(grep -c "^toy: toolchain changed: $shared/tool is not what 2 of the commits were built with" err)" = 1 ] &&
	run 0 report toy && has out "<p>toolchain changed: $shared/tool is not what [12] of the commits shown (was|were) built with</p>"'
test_that "export still has both" 'run 0 export --format csv toy one two && [ "$(grep -c unknown out)" = 2 ]'
test_that "the same bytes again: nothing changed" 'printf "%s\n" "$before" >"$shared/tool" && unchanged one && unchanged two && answers one unknown'
test_that "another tool that makes the same program: built anew, and the mark is gone" '
	printf "%s\n# a remark\n" "$before" >"$shared/tool" && changed one "$shared/tool" && run 0 build --renew toy one two && unchanged one && unchanged two && answers one unknown && answers two unknown'
test_that "other bytes are another program, of which nothing is known" '
	tool "# of three" && changed one "$shared/tool" && run 0 build --renew toy one && unchanged one && run 0 export --format csv toy two && [ "$(grep -c unknown out)" = 1 ]'
test_that "export says what it cannot write" 'run 1 export --format csv toy one two && [ "$(grep -c unknown out)" -le 1 ] && has err "nothing is finished of 1 of the versions.*'"'"'solverfs run'"'"' measures it"'
test_that "a cold cell builds anew" 'tool "# of four" && changed one "$shared/tool" && run 0 run toy one a.smt2 && unchanged one && answers one unknown'
test_that "the last tool again has the last results again" '
	printf "%s\n" "$before" >"$shared/tool" && run 0 build --renew toy one two && answers one unknown && answers two unknown'
test_that "a header that was looked for in vain appears in front of another" '
	echo sat >"$shared/first/status.h" && changed two "$shared/first/status.h" && answers two unknown && run 0 build --renew toy two && run 0 run toy two a.smt2 && answers two sat'
test_that "a failure stands only as long as its tools" '
	printf "#!/bin/sh\nexit 3\n" >"$shared/tool" && run 0 solver remove toy && sed "s/samples = 1/samples = 2/; s/build = /build = true \&\& /" toy.recipe >again.recipe && run 0 solver add toy toy --recipe again.recipe &&
	run 1 build toy one && printf "%s\n" "$before" >"$shared/tool" && run 0 build toy one && run 0 run toy one a.smt2'
test_that "what was built cannot be built anew: the last program stays" '
	printf "#!/bin/sh\nexit 3\n" >"$shared/tool" && run 4 build --renew toy one && has err "it was built before, and cannot be built again now" && run 0 build toy one'
test_that "another store takes the list with the build" '
	here=$SOLVERFS_STORE && export SOLVERFS_STORE=$top/other && run 0 init && run 0 solver add toy toy --recipe again.recipe && run 0 import "$here" && run 0 history --known toy a.smt2 && has out "	sat	" && has err "toolchain changed: $shared/tool"'
cp "$shared/tool" broken
test_that "... but no list of a file that builds here cannot see" '
	export SOLVERFS_STORE=$top/bare && run 0 init && git config -f bare/config solverfs.sandbox none && run 0 solver add toy toy --recipe again.recipe && run 0 case add a.smt2 &&
	echo here >"$shared.outside" && printf "#!/bin/sh\ncat %s >&2; printf \"#!/bin/sh\\\\necho sat\\\\n\"\n" "$shared.outside" >"$shared/tool" && run 0 run toy one a.smt2 && echo other >"$shared.outside" &&
	changed one "$shared.outside" && export SOLVERFS_STORE=$top/alone && run 0 init && run 0 solver add toy toy --recipe again.recipe && run 0 import "$top/bare" &&
	run 0 history --known toy a.smt2 && has out "	sat	" && empty err'
# The tool is touched by each build, so it is newer than the build's begin; then our clock is an hour behind it.
test_that "a tool that is stamped in the future was not exchanged meanwhile, and its digest is remembered" '
	printf "%s\n" "$before" >"$shared/tool" && export SOLVERFS_STORE=$top/ahead && run 0 init && git config -f ahead/config solverfs.sandbox none &&
	sed "s|build = |&touch $shared/tool \&\& |" again.recipe >touching.recipe && run 0 solver add toy toy --recipe touching.recipe &&
	run 0 build --log toy one && has out "exchanged meanwhile, such as $shared/tool" &&
	mkdir ahead.faults && echo fail ETIME >ahead.faults/clock.back && export SOLVERFS_FAULTS=$top/ahead.faults &&
	rm ahead/toolchain && run 0 build toy two && run 0 build --log toy two && ! has out "exchanged meanwhile" && grep -q "$shared/tool" ahead/toolchain'
cp broken "$shared/tool"
test_that "gc drops no list that a build has" 'run 0 gc && changed one "$shared/tool"'
make_mount
clean_up() { ! is_mounted "$mnt" || timeout 200 "$solverfs" -q unmount --lazy "$mnt"; }
# status TEXT: of the commit's build, through the mount, which looks once in a second.
status() { local i; for i in $(seq 200); do [ "$(cat "$mnt/toy/commits/one/build/status")" = "$1" ] && return 0; sleep 0.05; done; cat "$mnt/toy/commits/one/build/status" >err; return 1; }
printf '(set-logic QF_LIA)\n(assert true)\n(check-sat)\n' >b.smt2
run 0 case add b.smt2
if run 0 mount "$mnt"; then
	test_that "build/status says it in a second line, and cached/ has what it had" '
		status "ok
toolchain changed: $shared/tool" && [ "$(cat "$mnt"/toy/cached/one/cases/1/result)" = sat ] && [ "$(cat "$mnt"/toy/cached/one/build/status)" = ok ]'
	test_that "a cold cell in the mount builds anew" '
		printf "%s\n# for the mount\n" "$before" >"$shared/tool" && [ "$(cat "$mnt/toy/commits/one/cases/2/result" || echo none)" = sat ] && status ok'
else
	skip "build/status" "no mount here"
fi
test_that "fsck finds nothing wrong" 'run 0 fsck'
echo "1..$n"
