#!/bin/sh
# Fails when a commit made a solver slower, lost an answer or gave a wrong one; github.yml and gitlab.yml call it.
#
#     examples/ci/regression.sh REPO RECIPE CASES BASE HEAD [FACTOR]
#
# REPO is a clone with its whole history, CASES a folder. The store ($SOLVERFS_STORE) may be kept between jobs: what is known is not measured
# again. The summary is Markdown, on standard output.
set -eu
[ $# -ge 5 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
repo=$1 recipe=$2 cases=$3 base=$4 head=$5 factor=${6:-1.2}
{
	solverfs case list || solverfs init
	solverfs solver update ci || solverfs solver add ci "$repo" --recipe "$recipe"
	solverfs case add "$cases"
} >/dev/null 2>&1 || { echo "regression.sh: the store cannot be made ready; 'solverfs doctor' says:" && solverfs doctor; exit 4; } >&2
solverfs compare "ci@$base" "ci@$head" --fail-on-regression "$factor" --markdown
