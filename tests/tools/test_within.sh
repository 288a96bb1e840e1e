#!/bin/bash
# Two solvers in one program: a library's history within a host that is held, and a host's with a library that is held.
# Prints TAP. Usage: test_within.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time

git() { command git -c protocol.file.allow=always "$@"; }
minute=0
commit() { # commit REPOSITORY MESSAGE
	minute=$((minute + 1))
	command git -C "$1" add -A
	GIT_AUTHOR_DATE="$((1704067200 + 60 * minute)) +0000" GIT_COMMITTER_DATE="$((1704067200 + 60 * minute)) +0000" command git -C "$1" commit -q -m "$2"
}
sha() { command git -C "$1" rev-parse "$2"; }

# The library says how long a case lasts that has its word; so does the host. Commit 4 of the library and commit 3 of the host are slow.
make_repository lib
for i in 1 2 3 4 5 6 7 8 9 10; do
	printf 'lib=%s\nlib_delay=%s\n' $i "$([ $i -lt 4 ] && echo 0.05 || echo 0.6)" >lib/lib.sh
	commit lib "library $i" && command git -C lib tag "l$i"
done
echo 'cp lib.sh lib' >lib/build.sh && commit lib "a program of its own"
make_repository host
printf 'cat host.sh head.sh deps/lib/lib.sh tail.sh >solver && chmod +x solver\n' >host/build.sh
printf '#!/bin/sh\nfor case; do :; done\n' >host/host.sh
cat >host/tail.sh <<'END'
of=$(sed -n 's/^; slow in the //p' "$case")
delay=$lib_delay
[ "$of" = host ] && delay=$host_delay
echo "lasts $delay" >&2
[ -z "${CLOCK:-}" ] || awk "BEGIN { print 1000 * $delay }" >>"$CLOCK"
echo "; library $lib"
echo sat
END
echo host_delay=0.05 >host/head.sh
git -C host submodule --quiet add "$top/lib" deps/lib >/dev/null 2>&1
git -C host/deps/lib checkout -q l2
commit host "host 1" && command git -C host tag h1
for i in 2 3 4 5; do
	printf 'host=%s\nhost_delay=%s\n' $i "$([ $i -lt 3 ] && echo 0.05 || echo 0.6)" >host/head.sh
	commit host "host $i" && command git -C host tag "h$i"
done
toy_recipe host 'output = solver' "submodule = deps/lib=$top/lib" 'timeout = 10s'
toy_recipe lib 'output = lib'
mkdir cases
for i in library host; do printf '; slow in the %s\n(check-sat)\n' $i >cases/$i.smt2; done
run 0 init && run 0 solver add --recipe host.recipe host host && run 0 solver add --recipe lib.recipe lib lib && run 0 case add cases || { cat err; exit 1; }

# library_of SOLVER REV N: it runs with commit N of the library.
library_of() { run 0 run "$1" "$2" cases/host.smt2 --print stdout && has out "^; library $3$"; }

# -- the library's history --

test_that "the host is held: the library's commit is named" '
	run 0 localize host@h1+lib --reference l1 --target l10 cases/library.smt2 && [ "$(field 2,5)" = "$(sha lib l4)	library 4" ] &&
	has err "added host-h1.lib: lib, with host .deps/lib=$top/host $(sha host h1)."'
test_that "the same again builds and runs nothing" 'run 0 localize host@h1+lib --reference l1 --target l10 cases/library.smt2 && ! has err "added|localize:"'
test_that "the host's own times are as they were" 'run 1 localize host@h1+lib --reference l1 --target l10 cases/host.smt2 && field 5 | grep -q "do not differ"'
test_that "history goes along it" '
	run 0 history host@h1+lib --to l10 --all cases/library.smt2 && [ "$(wc -l <out)" = 10 ] && [ "$(grep -c differs out)" = 1 ] && grep differs out | grep -q "$(sha lib l4)"'
test_that "compare takes two versions" 'run 0 compare host@h1+lib@l3 host@h1+lib@l4 && has out "^regression	.*slower" && ! has err added'
test_that "its program is the one with a submodule at that commit" 'library_of host h1 2 && library_of host@h1+lib l7 7 && library_of host@h1+lib l2 2'

# -- the host's history --

test_that "the library is held: the host's commit is named" '
	run 0 localize host+lib@l4 --reference h1 --target h5 cases/host.smt2 && [ "$(field 2,5)" = "$(sha host h3)	host 3" ] && has err "added host.lib-l4"'
test_that "compare of two hosts with one library holds that" 'run 0 compare host@h2+lib@l4 host@h3+lib@l4 && has out "^regression	.*host.smt2" && ! has err added && ! has out "^regression	.*library.smt2"'
test_that "two that differ in both are compared" 'run 0 compare host@h1+lib@l3 host@h3+lib@l4 && [ "$(grep -c ^regression out)" = 2 ]'
test_that "the library itself is another solver" 'run 0 build lib HEAD && run 1 build lib l10'

test_that "several commands may need it at once" '
	for i in 1 2 3; do "$solverfs" run host@h4+lib l$i cases/library.smt2 >out$i 2>err$i & done; wait; [ "$(cat out[123] | cut -f 2 | tr "\n" " ")" = "sat sat sat " ] && [ "$(grep -c "^.solver .host-h4.lib" store/config)" = 1 ]'

# -- words --

test_that "one of them has to be held, and one free" 'run 2 history host+lib all && has err "holds neither of the two: .*as in host.lib@HEAD" && run 2 localize host@h1+lib@l1 --reference l1 --target l2 all && has err "leave out the @REV of one"'
test_that "what is not there is said" '
	run 3 history host@h9+lib all && has err "h9" && run 3 history host@h1+none all && has err "no solver .host@h1.none."'
test_that "neither may be a variant" 'run 2 history host-h1+lib+lib@l1 all && has err "is a variant; name its solver, lib"'
test_that "a name of one's own, and a folder" '
	run 0 history host@h1+more/lib=lib --to l2 cases/host.smt2 && has err "added host-h1.more.lib.lib:" && run 0 solver add mine host@h1+more/lib=lib && run 0 solver list && has out "^mine	11	.*	lib	" && git config --file store/config solver.mine.within | grep -q "^more/lib=$top/host $(sha host h1)$" &&
	library_of mine l4 2 && run 1 solver add mine host@h2+lib && has err "already" && run 0 solver remove mine host-h1+more.lib+lib && run 2 solver add both host@h1+lib@l1 && has err "holds both"'
test_that "a library that the host has not is asked for" 'run 0 solver add --recipe lib.recipe other host && run 3 history host@h1+other all && has err "host has no submodule that is other: say the folder"'

# -- what changes --

test_that "a branch that moves on is another solver" '
	run 0 solver add moving host@main+lib && git -C host checkout -q -b away h1 && git -C host branch -f main h2 && run 0 solver update host && run 0 run moving l1 cases/host.smt2 && [ "$(field 3 | cut -c 1-3)" = 0.6 ] &&
	run 0 run host@main+lib l1 cases/host.smt2 && has err "added host-[0-9a-f]{12}.lib:" && [ "$(field 3 | cut -c 1-4)" = 0.05 ]'
test_that "another recipe of the host is not taken silently" '
	sed -i "s/timeout = 10s/timeout = 9s/" host.recipe && run 0 solver add --replace host --recipe host.recipe && run 0 run host@h1+lib l1 cases/host.smt2 && has err "host-h1.lib keeps the recipe that it was made with" &&
	run 0 solver remove host-h1+lib && run 0 run host@h1+lib l1 cases/host.smt2 && has err "added host-h1.lib" && [ "$(git config --file store/config solver.host-h1+lib.timeout)" = 9s ]'
test_that "the library stays as long as it is needed" 'run 1 solver remove lib && has err "host-h[13].lib is a variant of lib: remove it too, or first"'
test_that "the host may go, and its folder: all is in the library's repository" '
	run 0 snapshot lib lib --name now && mv host away-host && run 0 solver remove host host+lib-l4 other && run 0 gc && run 0 localize host-h1+lib --reference l2 --target l5 cases/library.smt2 && [ "$(field 2)" = "$(sha lib l4)" ] &&
	run 0 build --again host-h1+lib l5; r=$?; mv away-host host; (exit $r)'
test_that "fsck finds nothing wrong" 'run 0 fsck -n'

test_that "a store that lost the commits of the host says so, and gets them" '
	cp store/config saved && run 0 solver remove $("$solverfs" solver list | grep "	lib	" | cut -f 1) lib && run 0 gc && run 0 solver add lib lib --recipe lib.recipe && awk "/^\\[/ { p = 0 } /\"host-h1.lib\"/ { p = 1 } p" saved >>store/config &&
	run 4 build host-h1+lib HEAD && has err "which host-h1.lib is built within, is not in the store: .solverfs solver update host-h1.lib. gets it" && run 0 solver update host-h1+lib && run 0 build host-h1+lib HEAD'
test_that "a recipe file may say it itself" '
	{ cat lib.recipe && printf "[variant \"inside\"]\n\twithin = deps/lib=%s %s\n\tbuild = sh build.sh\n\toutput = solver\n\trun = {bin} {case}\n" "$top/host" "$(sha host h2)"; } >inside.recipe &&
	run 0 solver add --replace lib --recipe inside.recipe && library_of inside l6 6 && run 0 solver remove inside'

# -- for others --

run 0 solver add --recipe host.recipe host host
make_mount
# Somebody without solverfs, whose clock goes on as the solver says.
mkdir bare && printf '#!/bin/sh\nawk "{ s += \\$1 } END { print s + 0 }" "$CLOCK"\n' >bare/date && chmod +x bare/date
elsewhere() { : >clock; env -i PATH="$top/bare:/usr/bin:/bin" CLOCK="$top/clock" sh "$1" "$top/$2" >out 2>err; }
test_that "verify.sh of a finding clones both" '
	run 0 compare --keep --pairs 6 host@h1+lib@l2 host@h1+lib@l7 cases/library.smt2 && run 0 localize host@h1+lib --reference l2 --target l7 spr/1 && run 0 mount mnt && cp mnt/host-h1+lib/spr/1/{verify.sh,report.md,case.smt2} .; r=$?; run 0 -q unmount mnt; [ $r = 0 ] &&
	elsewhere verify.sh there && has out "^building before: $(sha lib l3)" && has out "^building after: $(sha lib l4)" && has out "seed 0: before: sat in 50 ms, after: sat in 600 ms" && has out "^confirmed: .* in ([0-9]+) of \1 pairs"'
test_that "the commands of its report run as they stand there" '
	sed -n "/^\`\`\`sh\$/,/^\`\`\`\$/p" report.md | sed "1d;\$d" >steps.sh && mkdir steps && cp case.smt2 steps && (cd steps && sh -e ../steps.sh) >out 2>err && [ "$(grep "^; library" out | tr "\n" " ")" = "; library 2 ; library 7 " ]'

# -- a host that has the library's files in a folder of its own, and eras --

make_repository vendor
mkdir -p vendor/lib && cp host/host.sh host/tail.sh vendor && cp lib/lib.sh vendor/lib && echo old >vendor/lib/old && echo host_delay=0.05 >vendor/head.sh
printf 'cat host.sh head.sh lib/lib.sh tail.sh >solver && chmod +x solver\n[ ! -e lib/old ] || echo echo old >>solver\n' >vendor/build.sh
commit vendor "one" && command git -C vendor tag o1
git -C vendor mv build.sh make.sh && commit vendor "two" && command git -C vendor tag o2
{ toy_recipe vendor 'output = solver' 'paths = lib' 'paths = host.sh' 'paths = head.sh' 'paths = tail.sh' 'paths = build.sh' && printf '[era "o2.."]\n\tpaths = :!nothing\n\tbuild = sh make.sh\n' >>vendor.recipe; }
test_that "the folder's files give way, in each era" '
	run 0 solver add --recipe vendor.recipe vendor vendor && library_of vendor o1 10 && library_of vendor@o1+lib=lib l3 3 && library_of vendor@o2+lib=lib l4 4 && library_of vendor+lib=lib@l5 o1 5 && library_of vendor+lib=lib@l5 o2 5 &&
	run 0 build --log vendor-o1+lib+lib l3 && has out "own folder lib gives way to commit $(sha lib l3)" && run 0 run vendor-o1+lib+lib l3 cases/host.smt2 --print stdout && ! has out old'

echo "1..$n"
