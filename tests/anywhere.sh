#!/bin/bash
# Runs the tests as if on another machine, or by another user.
#
#     tests/anywhere.sh CONDITION… [-- ARGUMENT…]     the arguments are those of tools/test.sh; without any it is the whole suite
#     tests/anywhere.sh CONDITION… -- --demo          tools/demo.sh in its place
#     tests/anywhere.sh --list
#
# Several conditions hold together: tests/anywhere.sh user files umask -- mount. Each is a function below and takes away what it set up. Some want root;
# then namespaces keep all they mount to themselves. The last line is that of tools/test.sh: N passed, N failed[, N skipped].
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
self=$source/tests/anywhere.sh

refuse() {
	echo "anywhere.sh: $*" >&2
	exit 2
}
root_only() { [ "$(id -u)" = 0 ] || refuse "'$condition' needs root"; }
# A folder of this run's; what is on it is taken away at the end.
made=()
folder() { # folder NAME-OF-VARIABLE [NAME]
	local -n path=$1
	path=$(mktemp -d /tmp/solverfs-anywhere-XXXXXX) || exit 1
	made+=("$path")
	[ -z "${2-}" ] || { path=$path/$2 && mkdir "$path"; }
	chmod 755 "${made[-1]}"
}
trap 'for path in "${made[@]}"; do rm -rf --one-file-system "$path"; done' EXIT
in_namespace() { # in_namespace SCRIPT ARGUMENT…: a shell that has mounts of its own
	unshare --mount --propagation private bash -euc "$1" - "${@:2}"
}

# -- conditions: each runs "$@" --

user() { # another user, without root, who cloned HEAD and builds it
	root_only
	local home
	folder home
	git clone -q "$source" "$home/solverfs" && cd "$home/solverfs" || return
	! command -v ccache >/dev/null || { mkdir "$home/.cache" && cp -r "$(ccache -k cache_dir)" "$home/.cache/ccache"; } || return
	chown -R 65534:65534 "$home" || return
	mknod -m 666 "$home/fuse" c 10 229 # as udev makes it; what a container has may be root's
	# shellcheck disable=SC2016
	in_namespace 'mount --bind "$1" /dev/fuse; shift; exec "$@"' "$home/fuse" \
		setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR PATH=/usr/local/bin:/usr/bin:/bin HOME="$home" USER=nobody LOGNAME=nobody \
		"$PWD/tests/anywhere.sh" "${@:2}"
}
one-core() { # one core
	taskset -c 0 "$@"
}
many-cores() { # sixteen cores, claimed: what asks the kernel is told so
	root_only
	local tools
	folder tools
	cc -D_GNU_SOURCE -O2 -o "$tools/cores" "$source/tests/support/cores.c" && echo 0-15 >"$tools/list" || return
	export TEST_PROCESSES=${TEST_PROCESSES:-$((2 * $(nproc)))} # they are no more cores for that
	# shellcheck disable=SC2016
	in_namespace 'for file in online possible present; do mount --bind "$1/list" /sys/devices/system/cpu/$file; done; shift; exec "$@"' "$tools" "$tools/cores" 16 "$@"
}
busy() { # beside four loops that want a core each
	local loops=() status
	for _ in 1 2 3 4; do while :; do :; done & loops+=($!); done
	"$@"
	status=$?
	kill "${loops[@]}"
	wait "${loops[@]}" 2>/dev/null
	return $status
}
tmpfs() { # TMPDIR in memory
	root_only
	local mount
	folder mount
	# shellcheck disable=SC2016
	in_namespace 'mount -t tmpfs -o mode=1777 none "$1"; export TMPDIR=$1; shift; exec "$@"' "$mount" "$@"
}
overlay() { # TMPDIR on an overlay, as in a container
	root_only
	local layers
	folder layers
	mkdir "$layers/lower" "$layers/upper" "$layers/work" "$layers/merged" && chmod 1777 "$layers/lower" "$layers/upper"
	# shellcheck disable=SC2016
	in_namespace 'cd "$1"; mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged; export TMPDIR=$1/merged; cd /; shift; exec "$@"' "$layers" "$@"
}
odd=$'a b%20 \xc3\xbc'
odd-tmpdir() { # TMPDIR with blanks, a percent sign and a letter that is not of ASCII
	local odd_folder
	folder odd_folder "$odd"
	chmod 1777 "$odd_folder"
	TMPDIR=$odd_folder "$@"
}
odd-checkout() { # the sources in such a folder, and what is built
	local copy
	folder copy "$odd"
	git clone -q "$source" "$copy/solverfs" && cd "$copy/solverfs" || return
	"$PWD/tests/anywhere.sh" "${@:2}"
}
files() { # 256 descriptors, as many systems give; a hard limit below 4,096 is refused (docs/measuring.md)
	(ulimit -Sn 256 && "$@")
}
umask-077() { # files that nobody else may read
	(umask 077 && "$@")
}
language() { # language NAME ZONE COMMAND…
	local where name=$1 zone=$2
	shift 2
	folder where
	localedef -i "$name" -f UTF-8 "$where/$name.UTF-8" 2>/dev/null || refuse "no $name: apt-get install locales"
	env -u LC_ALL LOCPATH="$where" LANG="$name.UTF-8" TZ="$zone" "$@"
}
turkish() { # where i has no dot, and the day begins fourteen hours before Greenwich's
	language tr_TR Pacific/Kiritimati "$@"
}
german() { # where 1.5 is written 1,5, and the clock changes
	language de_DE Europe/Berlin "$@"
}
solvers() { # with z3, cvc5 and chromium, which some tests use
	for program in z3 cvc5 chromium; do command -v $program >/dev/null || refuse "no $program: apt-get install $program"; done
	"$@"
}
no-solvers() { # without them
	root_only
	local hidden
	folder hidden
	# Gone, as in a layer of an overlay: the shell finds what is merely covered.
	# shellcheck disable=SC2016
	in_namespace 'hidden=$1; shift; folders=
		for program in z3 cvc5 chromium; do
			path=$(command -v $program) && mkdir -p "$hidden${path%/*}" && mknod "$hidden$path" c 0 0 && folders+="${path%/*}"$'"'\n'"'
		done
		for folder in $(sort -u <<<"$folders"); do mount -t overlay none -o lowerdir="$hidden$folder:$folder" "$folder"; done
		exec "$@"' "$hidden" "$@"
}
seed() { # other random numbers: seed-N
	SOLVERFS_TEST_SEED=${condition#seed-} "$@"
}
trixie() { # Debian 13: a system of its own, which stays in ANYWHERE_TRIXIE (/var/tmp/solverfs-trixie) for the next time, and a fresh clone of HEAD
	root_only
	local system=${ANYWHERE_TRIXIE:-/var/tmp/solverfs-trixie}
	if [ ! -e "$system/ready" ]; then
		command -v debootstrap >/dev/null || refuse "no debootstrap: apt-get install debootstrap"
		rm -rf "$system" && debootstrap --variant=minbase trixie "$system" >&2 || return
		cp /etc/apt/apt.conf.d/* "$system/etc/apt/apt.conf.d/"
		. "$source/tools/packages.sh"
		# shellcheck disable=SC2086 # a list
		enter "$system" sh -c "apt-get update -q && apt-get install -y -q --no-install-recommends ca-certificates $(echo $packages)" >&2 || return
		touch "$system/ready"
	fi
	rm -rf "$system/root/solverfs" && git clone -q "$source" "$system/root/solverfs" || return
	enter "$system" /root/solverfs/tests/anywhere.sh "${@:2}"
}

# Debian's own root: a chroot alone may make no user namespaces. Its users and cores are this machine's, and so is who has taken which: a run that
# has another one's user has its processes counted against its own limit.
enter() { # enter SYSTEM COMMAND…
	# shellcheck disable=SC2016
	in_namespace 'mount --bind "$1" "$1"; cd "$1"; mount --rbind /dev dev; mount -t proc proc proc; mount --rbind /sys sys; mount -t tmpfs -o mode=1777 none run
		mkdir -p /run/solverfs
		for leases in solverfs lock/solverfs; do [ ! -d "/run/$leases" ] || { mkdir -p "run/$leases"; mount --bind "/run/$leases" "run/$leases"; }; done
		cp -L /etc/resolv.conf etc/; mkdir -p .before; pivot_root . .before; umount --lazy /.before; cd /root; shift
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' "$@"
}

# -- in order --

conditions() { sed -n '/^# -- conditions/,/^# -- in order/s/^\([a-z][a-z0-9-]*\)() { # \(.*\)/\1	\2/p' "$self" | grep -v '^\(language\|enter\)	'; }
case ${1---list} in
--list)
	conditions | expand -t 16
	exit
	;;
--)
	shift
	[ "${1-}" != --demo ] || exec "$source/tools/demo.sh"
	exec "$source/tools/test.sh" "$@"
	;;
esac
condition=$1
shift
function=${condition/#seed-[0-9]*/seed}
conditions | grep -q "^$function	" || refuse "no condition '$condition'; there are: $(conditions | cut -f 1 | tr '\n' ' ')"
[[ " $* " = *" -- "* ]] || set -- "$@" --
"$function" "$self" "$@"
