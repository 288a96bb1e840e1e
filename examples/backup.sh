#!/bin/sh
# Copies what is finished of a mount, as plain files. Nothing is started by that: commits/, where opening a file does, is left out.
#
#     examples/backup.sh rsync MOUNT FOLDER
#     examples/backup.sh tar MOUNT FILE.tar
#     examples/backup.sh restic MOUNT REPOSITORY        with RESTIC_PASSWORD, as restic says
#     examples/backup.sh borg MOUNT REPOSITORY          with BORG_PASSPHRASE, as borg says
#
# A second time only what is new is copied (tar: all). To take a whole store elsewhere, with programs and repositories, copy its folder while
# nothing is mounted and no command runs.
set -eu
[ $# -eq 3 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mount=$2 to=$3
[ -f "$mount/README" ] && [ -d "$mount/cases" ] || { echo "backup.sh: $mount is no mount of solverfs" >&2; exit 2; }
case $1 in
rsync) mkdir -p "$to" && rsync -a --exclude /.solverfs --exclude '/*/commits/' "$mount/" "$to/" ;;
tar) tar --create --file "$to" --exclude-caches --exclude ./.solverfs -C "$mount" . ;;
restic)
	restic -r "$to" cat config >/dev/null 2>&1 || restic -r "$to" init >/dev/null
	cd "$mount" && restic -r "$to" backup --quiet --exclude-caches --exclude .solverfs .
	;;
borg)
	borg info "$to" >/dev/null 2>&1 || borg init --encryption "${BORG_ENCRYPTION:-repokey}" "$to"
	cd "$mount" && borg create --exclude-caches --exclude .solverfs "$to::solverfs-{now}" .
	;;
*) echo "backup.sh: rsync, tar, restic or borg, not '$1'" >&2 && exit 2 ;;
esac
