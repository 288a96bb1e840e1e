# shellcheck shell=bash disable=SC2086 # lists of packages are words
# The Debian packages that building, testing and showing solverfs take; sourced by test.sh and demo.sh.

packages="
	build-essential pkg-config meson ninja-build
	libfuse3-dev libgit2-dev liblmdb-dev libzstd-dev libarchive-dev libjansson-dev nettle-dev libxxhash-dev libpcre2-dev zlib1g-dev libexpat1-dev
	fuse3 bubblewrap git ccache curl
	check attr rsync python3 jq procps zstd cmake
	libz3-dev
	scdoc groff-base
"

# Prints those that are not installed.
packages_missing() {
	local package
	for package in $packages; do
		case "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" in
		ii*) ;;
		*) printf '%s ' "$package" ;;
		esac
	done
}

# Installs what is missing, and asks for nothing when nothing is. SOLVERFS_NO_INSTALL=1 leaves it to the caller.
packages_install() {
	local missing as_root=""
	[ -z "${SOLVERFS_NO_INSTALL:-}" ] || return 0
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		echo "This is no Debian: install what these packages hold, then set SOLVERFS_NO_INSTALL=1:" $packages >&2
		return 1
	fi
	missing=$(packages_missing)
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ]; then
		as_root=sudo
		[ -t 0 ] || as_root="sudo -n" # nobody is there to type a password
		if ! command -v sudo >/dev/null || ! $as_root true; then
			echo "Missing packages, and no way to become root here. As root: apt-get install $missing" >&2
			return 1
		fi
	fi
	echo "Installing: $missing" >&2
	$as_root apt-get update -q >&2 </dev/null || echo "apt-get update failed; trying with what apt knows" >&2
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2 </dev/null && return 0
	echo "Could not install: $missing" >&2
	return 1
}

# Prints the folder to build in: build/, unless that is another user's or cannot be made.
packages_build_folder() {
	local dir="${SOLVERFS_BUILD:-build}"
	if { [ -e "$dir" ] && [ ! -O "$dir" ]; } || ! mkdir -p "$dir" 2>/dev/null || [ ! -w "$dir" ]; then
		dir="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/solverfs-build-$(pwd | cksum | cut -d ' ' -f 1)"
		mkdir -p "$dir" || return 1
	fi
	printf '%s\n' "$dir"
}

# Configures and builds into $1, quietly unless it fails; where CI is set, a warning is an error. A folder that was made for a checkout which has moved since is made anew.
packages_build() {
	local dir=$1 wipe="" log="$1/build.log"
	if [ -f "$dir/build.ninja" ] && ! python3 -c 'import json, os, sys
sys.exit(json.load(open(sys.argv[1]))["directories"]["source"] != os.path.realpath("."))' "$dir/meson-info/meson-info.json"; then
		wipe=--wipe
	fi
	echo "Building in $dir" >&2
	if { [ -f "$dir/build.ninja" ] && [ -z "$wipe" ]; } || meson setup $wipe ${CI:+-Dwerror=true} "$dir" . >"$dir.log" 2>&1 </dev/null; then
		rm -f "$dir.log"
		ninja -C "$dir" >"$log" 2>&1 </dev/null && return 0
	else
		log="$dir.log" # meson wants the folder for itself
	fi
	tail -n 60 "$log" >&2
	echo "The build failed; its whole output is in $log" >&2
	return 1
}
