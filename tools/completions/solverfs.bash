# bash completion for solverfs

# Words of a column of a listing of the store that the line names; nothing when there is none.
_solverfs_column() {
	solverfs ${store:+--store "$store"} -q "$@" 2>/dev/null
}

# The options of the command so far, a line each, as in its --help: "-o, --output="; "=" where an argument follows. Needs no store.
_solverfs_options() {
	solverfs $command --help 2>/dev/null | sed -nE -e 's/^  (-., |    )((--[-a-z]+(, )?)+)(\[?=)?.*/\1\2\5/p' -e 's/^  (-.) [A-Z].*/\1=/p'
}
# The commands, or those of a group: the first words of the lines of --help.
_solverfs_commands() { solverfs ${1-} --help 2>/dev/null | sed -nE "s/^  ${1:+$1 }([a-z]+) .*/\1/p" | sort -u; }
_solverfs_takes_argument() { _solverfs_options | grep -qE -- "(^|[ ,])$1(,.*)?=\$" 2>/dev/null; }

# Fills COMPREPLY with those lines of standard input that begin with the word; names may have spaces, and the word is as it was typed.
_solverfs_lines() {
	local line word=${1#[\"\']}
	word=${word//\\/}
	COMPREPLY=()
	while IFS= read -r line; do
		[[ -n $line && $line == "$word"* ]] && COMPREPLY+=("$line")
	done
}
_solverfs_solvers() { _solverfs_column solver list | cut -f 1; }
_solverfs_cases() { # sets, ids and names
	echo all
	_solverfs_column set list | cut -f 1
	_solverfs_column case list | cut -f 1,6 | tr '\t' '\n'
}
# Tags, branches and snapshots, as the store's own clone has them; behind "A.." the same as ends of a range.
_solverfs_revisions() {
	local dir=${store:-${SOLVERFS_STORE:-${XDG_DATA_HOME:-$HOME/.local/share}/solverfs}} from=""
	[[ $cur == *..* ]] && from=${cur%..*}..
	{
		echo HEAD
		git --git-dir "$dir/repos/$solver.git" for-each-ref --format '%(refname:lstrip=2)' refs/tags refs/heads 2>/dev/null
		git --git-dir "$dir/repos/$solver.git" for-each-ref --format '%(refname:lstrip=3)' refs/solverfs/snapshots 2>/dev/null
	} | while IFS= read -r revision; do echo "$from$revision"; done
}
# Where something of solverfs is mounted: as it is, and as seen from here.
_solverfs_mounts() {
	local path
	awk '$3 == "fuse.solverfs" { print $2 }' /proc/self/mounts | while IFS= read -r path; do
		path=$(printf '%b' "${path//\\0/\\00}") # "\0405" would be one character, "\00405" is a space and a 5
		echo "$path"
		[[ $path == "$PWD"/* ]] && echo "${path#"$PWD"/}"
	done
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
		@) i=$((i + 1)) ;; # SOLVER@REV is three words, where @ breaks them
		-*) _solverfs_takes_argument "${words[i]}" && i=$((i + 1)) ;;
		*)
			case $command in
			"" | solver | recipe | case | set | portfolio) command="${command:+$command }${words[i]}" ;;
			*)
				n=$((n + 1))
				[ $n = 1 ] && solver=${words[i]}
				;;
			esac
			;;
		esac
	done

	case $prev in
	:) [[ ${words[cword - 2]} != exec ]] || COMPREPLY=($(compgen -f -- "$cur")) && return ;; # exec:/usr/bin/…
	--store) COMPREPLY=($(compgen -d -- "$cur")) && return ;;
	--recipe | -r) COMPREPLY=($(compgen -W "$(solverfs recipe list 2>/dev/null | cut -f 1)" -- "$cur") $(compgen -f -- "$cur")) && return ;;
	--solver) _solverfs_lines "$cur" < <(_solverfs_solvers); return ;;
	--print | -p) COMPREPLY=($(compgen -W "time cputime memory result effort stdout stderr run.json queries.tsv" -- "$cur")) && return ;;
	--format) COMPREPLY=($(compgen -W "$([ "$command" = import ] && echo benchexec || echo csv jsonl benchexec asv hyperfine)" -- "$cur")) && return ;;
	--reference | --target | --culprit | --oracle | --at | --from | --to) _solverfs_lines "$cur" < <(_solverfs_revisions); return ;;
	-*) if _solverfs_takes_argument "$prev"; then COMPREPLY=($(compgen -f -- "$cur")); return; fi ;;
	esac

	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$(_solverfs_options | grep -oE -e '--[-a-z]+')" -- "$cur"))
		return
	fi

	case $command in
	"") COMPREPLY=($(compgen -W "$(_solverfs_commands) help" -- "$cur")) ;;
	solver | case | set | portfolio | recipe) COMPREPLY=($(compgen -W "$(_solverfs_commands $command)" -- "$cur")) ;;
	"recipe draft")
		[ $n = 0 ] && _solverfs_lines "$cur" < <(_solverfs_solvers)
		COMPREPLY+=($(compgen -f -- "$cur"))
		;;
	"recipe show") COMPREPLY=($(compgen -W "$(solverfs recipe list 2>/dev/null | cut -f 1)" -- "$cur")) ;;
	"solver try")
		case $n in
		0) _solverfs_lines "$cur" < <(_solverfs_solvers) ;;
		1) _solverfs_lines "$cur" < <(_solverfs_revisions) ;;
		*) COMPREPLY=($(compgen -f -- "$cur")) ;;
		esac
		;;
	"solver update" | "solver remove" | watch | alarms) _solverfs_lines "$cur" < <(_solverfs_solvers) ;;
	"solver add") [ $n = 1 ] && COMPREPLY=($(compgen -d -- "$cur")) ;;
	"case add" | import) COMPREPLY=($(compgen -f -- "$cur")) ;;
	"case list" | "case cut" | "case remove" | "portfolio features") _solverfs_lines "$cur" < <(_solverfs_cases) ;;
	"set list") _solverfs_lines "$cur" < <(_solverfs_column set list | cut -f 1) ;;
	"set add" | "set remove" | "portfolio run")
		if [ $n = 0 ]; then
			_solverfs_lines "$cur" < <(_solverfs_column ${command% *} list | cut -f 1)
		else
			_solverfs_lines "$cur" < <(_solverfs_cases)
		fi
		;;
	"portfolio add") [ $n = 0 ] || _solverfs_lines "$cur" < <(_solverfs_solvers) ;;
	"portfolio show" | "portfolio reset" | "portfolio remove") _solverfs_lines "$cur" < <(_solverfs_column portfolio list | cut -f 1) ;;
	generate) COMPREPLY=($(compgen -W "$(solverfs generate --list 2>/dev/null | cut -f 1)" -- "$cur")) ;;
	transform)
		if [ $n = 0 ]; then
			COMPREPLY=($(compgen -W "$(solverfs transform --list 2>/dev/null | cut -f 1)" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	mount) COMPREPLY=($(compgen -d -- "$cur")) ;;
	unmount) _solverfs_lines "$cur" < <(_solverfs_mounts) ;;
	fuzz | incompleteness | findings | localize | options | diverge | reduce | history | report | steps | triage)
		if [ $n = 0 ]; then _solverfs_lines "$cur" < <(_solverfs_solvers); else _solverfs_lines "$cur" < <(_solverfs_cases); fi
		;;
	compare)
		if [ "$prev" = @ ] || [ "$cur" = @ ]; then
			[ "$cur" = @ ] && cur="" || cword=$((cword - 1))
			solver=${words[cword - 1]}
			_solverfs_lines "$cur" < <(_solverfs_revisions)
			if [[ ${2-} == @* ]]; then # bash replaces the @, too, and would put a \ before that of a file's name
				COMPREPLY=("${COMPREPLY[@]/#/@}")
				compopt +o filenames 2>/dev/null
			fi
		elif [[ $cur == *@* ]]; then # SOLVER@REV as one word
			solver=${cur%%@*}
			_solverfs_lines "$cur" < <(cur=${cur#*@}; _solverfs_revisions | sed "s|^|$solver@|")
		elif [ $n -lt 2 ]; then
			_solverfs_lines "$cur" < <(_solverfs_solvers)
		else
			_solverfs_lines "$cur" < <(_solverfs_cases)
		fi
		;;
	snapshot | build | run | noise | export)
		if [ $n = 0 ]; then
			_solverfs_lines "$cur" < <(_solverfs_solvers)
		elif [ "$command" = snapshot ]; then
			COMPREPLY=($(compgen -d -- "$cur"))
		elif [ "$command" = build ] || [ $n = 1 ] || [[ $cur == *..* ]]; then
			_solverfs_lines "$cur" < <(_solverfs_revisions)
		else # another revision, or a case
			_solverfs_lines "$cur" < <(_solverfs_cases; [ -z "$cur" ] || _solverfs_revisions)
		fi
		;;
	esac
}
complete -F _solverfs -o filenames solverfs
