# bash completion for solverfs

# Words of a column of a listing of the store that the line names; nothing when there is none.
_solverfs_column() {
	solverfs ${store:+--store "$store"} -q "$@" 2>/dev/null
}

_solverfs() {
	local cur prev words cword
	if declare -F _init_completion >/dev/null; then
		_init_completion || return
	else
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	fi

	# The subcommand (one or two words), how many arguments stand before the cursor, and the store.
	local command="" store="" solver="" i n=0
	for ((i = 1; i < cword; i++)); do
		case ${words[i]} in
		--store) store=${words[++i]} ;;
		--store=*) store=${words[i]#*=} ;;
		--recipe | -r | --name | -n | --status | --seed | -s | --timeout | -t | --print | -p | --output | -o | --keep | -k | --options)
			case ${words[i]}:$command in
			-n:fsck | -n:gc) ;;
			*) i=$((i + 1)) ;;
			esac
			;;
		-*) ;;
		*)
			case $command in
			"" | solver | case | set | portfolio) command="${command:+$command }${words[i]}" ;;
			*)
				n=$((n + 1))
				[ $n = 1 ] && solver=${words[i]}
				;;
			esac
			;;
		esac
	done

	case $prev in
	--store) COMPREPLY=($(compgen -d -- "$cur")) && return ;;
	--recipe | -r | --output) COMPREPLY=($(compgen -f -- "$cur")) && return ;;
	--print | -p) COMPREPLY=($(compgen -W "time cputime memory result effort stdout stderr run.json" -- "$cur")) && return ;;
	--method) COMPREPLY=($(compgen -W "default paper git-bisect" -- "$cur")) && return ;;
	--reference | --target | --from | --to | --seed | --timeout | --keep | --name | --status | --options) return ;;
	esac

	local common="--store --quiet --verbose --help"
	if [[ $cur == -* ]]; then
		local own=""
		case $command in
		"solver add") own="--recipe" ;;
		"solver list" | "solver update" | "case list" | "set list" | doctor | version) own="--json" ;;
		"solver verify") own="--seed --json" ;;
		"case add") own="--name --status --json" ;;
		mount) own="--foreground --options" ;;
		unmount) own="--lazy" ;;
		build) own="--again --log --output --json" ;;
		run) own="--seed --timeout --again --json --print" ;;
		fuzz) own="--reference --target --for --strategy --threshold --timeout --window --corpus --name --seed --oracle --pairs --jobs --max-finds --no-localize --json" ;;
		incompleteness) own="--reference --target --at --seeds --oracle --iterations --chain --timeout --for --seed --name --jobs --max-finds --no-localize --json" ;;
		findings) own="--mark --json" ;;
		localize) own="--reference --target --method --seed --timeout --log --json" ;;
		reduce) own="--reference --target --command --keep --floor --ratio --timeout --for --seed --jobs --again --output --json" ;;
		history) own="--from --to --bisecting --step --all --known --seed --timeout --svg --json" ;;
		steps) own="--from --to --seed --timeout --json" ;;
		status) own="--watch --json" ;;
		"portfolio add") own="--timeout --memory --selector --allocation --reward --seed" ;;
		"portfolio list") own="--json" ;;
		"portfolio run") own="--alone --json" ;;
		"portfolio features") own="--list --correlation --select --seeds --limit" ;;
		"portfolio replay") own="--selector --allocation --seeds --seed --split --order --train --limit --reward --confidence --without --json" ;;
		fsck) own="--look-only --dry-run --json" ;;
		gc) own="--keep --lost-cases --dry-run --json" ;;
		esac
		COMPREPLY=($(compgen -W "$own $common" -- "$cur"))
		return
	fi

	case $command in
	"") COMPREPLY=($(compgen -W "init solver snapshot case set mount unmount build run history portfolio status fsck gc doctor version help" -- "$cur")) ;;
	solver) COMPREPLY=($(compgen -W "add list update verify remove" -- "$cur")) ;;
	case | set) COMPREPLY=($(compgen -W "add list remove" -- "$cur")) ;;
	portfolio) COMPREPLY=($(compgen -W "add list show run reset remove features replay" -- "$cur")) ;;
	"portfolio "*) [ "$command" != "portfolio replay" ] || COMPREPLY=($(compgen -f -- "$cur")) ;;
	"solver update" | "solver verify" | "solver remove") COMPREPLY=($(compgen -W "$(_solverfs_column solver list | cut -f 1)" -- "$cur")) ;;
	"solver add") [ $n = 1 ] && COMPREPLY=($(compgen -d -- "$cur")) ;;
	"case add") COMPREPLY=($(compgen -f -- "$cur")) ;;
	"case list" | "case remove") COMPREPLY=($(compgen -W "all $(_solverfs_column case list | cut -f 1) $(_solverfs_column set list | cut -f 1)" -- "$cur")) ;;
	"set list") COMPREPLY=($(compgen -W "$(_solverfs_column set list | cut -f 1)" -- "$cur")) ;;
	"set add" | "set remove")
		if [ $n = 0 ]; then
			COMPREPLY=($(compgen -W "$(_solverfs_column set list | cut -f 1)" -- "$cur"))
		else
			COMPREPLY=($(compgen -W "all $(_solverfs_column case list | cut -f 1)" -- "$cur"))
		fi
		;;
	mount | unmount) COMPREPLY=($(compgen -d -- "$cur")) ;;
	fuzz | incompleteness | findings | localize | reduce | history | steps)
		if [ $n = 0 ]; then
			COMPREPLY=($(compgen -W "$(_solverfs_column solver list | cut -f 1)" -- "$cur"))
		else
			COMPREPLY=($(compgen -W "all $(_solverfs_column case list | cut -f 1) $(_solverfs_column set list | cut -f 1)" -- "$cur"))
		fi
		;;
	snapshot | build | run)
		if [ $n = 0 ]; then
			COMPREPLY=($(compgen -W "$(_solverfs_column solver list | cut -f 1)" -- "$cur"))
		elif [ "$command" = snapshot ]; then
			COMPREPLY=($(compgen -d -- "$cur"))
		elif [ "$command" = build ] || [ $n = 1 ]; then
			# Tags and branches, as the store's own clone has them.
			local dir=${store:-${SOLVERFS_STORE:-${XDG_DATA_HOME:-$HOME/.local/share}/solverfs}}
			COMPREPLY=($(compgen -W "HEAD $(git --git-dir "$dir/repos/$solver.git" for-each-ref --format '%(refname:short)' refs/tags refs/heads 2>/dev/null)" -- "$cur"))
		else
			COMPREPLY=($(compgen -W "all $(_solverfs_column case list | cut -f 1) $(_solverfs_column set list | cut -f 1)" -- "$cur"))
		fi
		;;
	esac
}
complete -F _solverfs -o filenames solverfs
