#!/bin/sh
# Fails when a commit made a solver slower, lost an answer or gave a wrong one; github.yml and gitlab.yml call it.
#
#     examples/ci/regression.sh REPO RECIPE CASES BASE HEAD [FACTOR]
#
# REPO is a clone with its whole history, CASES a folder. The summary is Markdown, on standard output. The store is $SOLVERFS_STORE, or
# ./.solverfs, and this script's alone. It may be kept between jobs: what is known is not measured again, and the recipe, the cases and the place
# of the clone are this job's.
set -u
[ $# -ge 5 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
export SOLVERFS_STORE="${SOLVERFS_STORE:-$PWD/.solverfs}"
repo=$1 recipe=$2 cases=$3 base=$4 head=$5 factor=${6:-1.2}

field() { solverfs solver list | awk -F '\t' "$1"; }
store() {
	solverfs solver list >/dev/null 2>&1 || solverfs -q init || return
	[ -z "$(field '1')" ] || [ -n "$(field '$1 == "ci"')" ] && return
	echo "regression.sh: $SOLVERFS_STORE has solvers of somebody else's: name another SOLVERFS_STORE" >&2
	return 1
}
# What was measured stays in the store when a solver or a case is taken out of it.
solver() {
	was=$(field '$1 == "ci" { print $6 }')
	if [ -n "$was" ] && [ "$was" != "$(realpath "$repo")" ]; then
		solverfs solver list | cut -f 1 | xargs solverfs -q solver remove || return
	fi
	solverfs -q solver add --replace ci "$repo" --recipe "$recipe" && solverfs -q solver update ci >/dev/null
}
cases() {
	[ -z "$(solverfs case list)" ] || solverfs -q case remove all || return
	solverfs -q case add "$cases" >/dev/null
}
{ store && solver && cases; } || { echo "regression.sh: the store cannot be made ready; 'solverfs doctor' says:" && solverfs doctor; exit 4; } >&2
solverfs compare "ci@$base" "ci@$head" --fail-on-regression "$factor" --markdown
