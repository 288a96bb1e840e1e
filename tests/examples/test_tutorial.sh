#!/bin/bash
# The commands of docs/tutorial.md, as they stand. Prints TAP. Usage: test_tutorial.sh SOLVERFS [--real]
# The solver's history is a stand-in, which builds in no time and gets slow at one commit: the tags and the culprit are its own. With --real it is this
# repository's history (some minutes on a quiet machine).
# shellcheck disable=SC2016
. "$(dirname "$0")/../tools/command.sh"
tell_time
PATH=$(dirname "$solverfs"):$PATH
clean_up() {
	! grep -q "${top##* }/mnt fuse.solverfs" /proc/self/mounts || timeout 20 "$solverfs" -q unmount --lazy "$top/mnt"
	cd / || exit 1
}
# Prints each line that the page has behind "$ ", without its own tags.
commands() { sed -n '/^```console$/,/^```$/s/^\$ //p' "$source_dir/docs/tutorial.md"; }

if [ "${2-}" = --real ]; then
	git clone -q "$source_dir" solverfs
	old=ace75ced new=f18da5ea culprit=$(git -C solverfs rev-parse 20994c0e)
else
	git init -q -b main solverfs && git -C solverfs config user.name T && git -C solverfs config user.email t@example.org
	mkdir -p solverfs/examples && cp -r "$source_dir/examples/strand" solverfs/examples && rm -rf solverfs/examples/strand/src
	printf 'strand: strand.sh\n\tcp strand.sh strand && chmod +x strand\n' >solverfs/examples/strand/Makefile
	for i in 1 2 3 4 5 6 7 8; do
		cat >solverfs/examples/strand/strand.sh <<-END2
			#!/bin/sh
			# $i
			for case; do :; done
			grep -q 'status unsat' "\$case" && answer=unsat || answer=sat
			effort=1000
			[ $i -ge 6 ] && [ "\$(wc -c <"\$case")" -gt 100 ] && echo "lasts 0.15" >&2 && effort=9000
			echo \$answer
			echo ":arrangements \$effort" # as strand's own; times alone take many pairs of runs
		END2
		git -C solverfs add -A && git -C solverfs commit -q -m "commit $i"
	done
	old=$(git -C solverfs rev-parse HEAD~7) new=$(git -C solverfs rev-parse HEAD) culprit=$(git -C solverfs rev-parse HEAD~2)
fi
[ -w /dev/fuse ] || mount_line='^(mkdir mnt|cat mnt|solverfs unmount)'
while IFS= read -r line; do
	line=$(sed "s/ace75ced/$old/; s/f18da5ea/$new/; s/20994c0e/$culprit/" <<<"$line")
	if [ -n "${mount_line-}" ] && grep -qE "$mount_line" <<<"$line"; then
		echo "ok $((n += 1)) - $line # SKIP no /dev/fuse here"
		continue
	fi
	(eval "$line") >out 2>err </dev/null
	ok $? "${line//#/}"
	case $line in
	"solverfs compare "*) cp out compared ;;
	"solverfs localize "*) cp out localized ;;
	"solverfs case add "*) cp out added ;;
	esac
done < <(commands)
: >out >err
test_that "ten queries, a picture of each kind, a page" '[ "$(grep -c new added)" = 10 ] && grep -q "<svg" scatter.svg && grep -q "<svg" history.svg && grep -q "</html>" strand.html'
test_that "the comparison has both queries that got slower" 'has compared "^regression.*slower.*	unsat-02.smt2$" && has compared "^regression.*slower.*	sat-02.smt2$"'
test_that "and both have the culprit" '[ "$(grep "	$culprit	" localized | cut -f 1 | sort -u | wc -l)" = 2 ]'

echo "1..$n"
