
prepare() { # prepare SIDE COMMIT: builds it from a clean clone
	[ ! -e "$1/is-built" ] || return 0
	case $2 in
	exec:*) mkdir -p "$1" ;;
	*)
		[ -d clone ] || { rm -rf cloning && git clone -q --no-checkout "$repository" cloning && mv cloning clone; } || exit 2
		rm -rf "$1" && git -C clone worktree prune && git -C clone worktree add -q --detach "../$1" "${root:-${2%%:*}}" || exit 2 ;;
	esac
	echo "building $1: $2"
	(cd "$1" && "build_$1") >"$1.log" 2>&1 </dev/null || { tail -n 20 "$1.log"; echo "cannot build $2; $folder/$1.log has all of it"; exit 2; }
	touch "$1/is-built"
}
measure() { # measure SIDE SEED: sets ms and answer
	now; begun=$ms
	(cd "$1" && ulimit -t "$cpu" && "run_$1" "$2") >"$1.out" 2>"$1.err" </dev/null
	status=$?
	now; ms=$((ms - begun))
	answer=$(sed -n 's/^s SATISFIABLE.*/sat/p; s/^s UNSATISFIABLE.*/unsat/p; /^sat/p; /^unsat/p; /^unknown/p' "$1.out" | tail -n 1)
	[ -n "$answer" ] || case $status in 10) answer=sat ;; 20) answer=unsat ;; esac
	[ $status -lt 128 ] || answer=crash
	[ "$ms" -lt "$timeout_ms" ] || answer=timeout
}
compare_times() { # 0: the second version is slower in half of the pairs or more
	held=0 pairs=0
	for seed in $seeds; do
		measure before "$seed"; first=$ms first_answer=$answer
		measure after "$seed"
		echo "seed $seed: before: ${first_answer:-no answer} in $first ms, after: ${answer:-no answer} in $ms ms"
		pairs=$((pairs + 1))
		case $first_answer in sat | unsat) [ $((ms - first)) -le "$least_ms" ] || held=$((held + 1)) ;; esac
	done
	[ $((2 * held)) -ge $pairs ] && word=confirmed || word='not confirmed'
	echo "$word: longer by more than $least_ms ms in $held of $pairs pairs of runs (reference and target when it was found: $found)"
	[ "$word" = confirmed ]
}
compare_answers() { # 0: they are those that were found
	measure before 0; first=$answer
	measure after 0
	echo "before: ${first:-no answer}, after: ${answer:-no answer}; found were $wanted_before and $wanted_after"
	case $wanted_before in decided) case $first in sat | unsat) first=decided ;; esac ;; esac
	[ "${first:-error} ${answer:-error}" = "$wanted_before $wanted_after" ] && echo confirmed && return
	echo 'not confirmed'
	return 1
}
prepare before "$before"
[ "$after" != "$before" ] || [ -e after ] || ln -s before after # of a crash or an implication: one program
prepare after "$after"
