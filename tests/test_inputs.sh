#!/bin/bash
# What people hand in, and what is wrong with it: repositories, cases, recipes and revisions, through the command and (where there is
# /dev/fuse) a mount that has to go on serving. Tables; a row is one thing handed in. Prints TAP. Usage: test_inputs.sh SOLVERFS
. "$(dirname "$0")/command.sh"

mnt=$top/mnt
mkdir "$mnt"
mounted=false
clean_up() {
	$mounted && timeout 20 "$solverfs" -q unmount --lazy "$mnt"
	cd /
}

run 0 init -q
make_toy
sed '/variant/,$d' recipes/toy.recipe >plain.recipe
run 0 solver add toy toy --recipe plain.recipe -q
printf '; answer: sat\n(check-sat)\n' >a.smt2
run 0 case add a.smt2
run 0 run toy HEAD 1 -q
if [ -w /dev/fuse ]; then
	run 0 mount "$mnt" -q && mounted=true
fi

# The mount still answers with what it had.
serves() { ! $mounted || [ "$(timeout 20 cat "$mnt/toy/commits/HEAD/cases/1/result")" = sat ]; }
# One line that says it, and no more (a sanitizer, an assertion or a library would say more).
sentence() { [ "$(wc -l <err)" = 1 ] && has err "^solverfs: " && has err "$1"; }
# One that cannot begin before `what` is in the kernel's cache no more than a second.
await() { for _ in $(seq 200); do eval "$1" && return 0; sleep 0.05; done; return 1; }
known() { # what the store knows and holds; to be the same before and after
	run 0 solver list && cat out
	(cd "$SOLVERFS_STORE/repos" && ls -A | grep -v '\.lock$')
	cat "$SOLVERFS_STORE/config"
	$mounted && ls "$mnt"
}

# -- repositories --

# loose REV: the file of an object; broken FILE: it can be written over
loose() { echo ".git/objects/$(git rev-parse "$1" | sed 's,..,&/,')"; }
pack() { git repack -qad && chmod u+w .git/objects/pack/*; }
over() { chmod u+w "$1" && echo garbage >"$1"; }
toy_author=(-c user.name=Toy -c user.email=toy@example.org)

# repository STATUS PATTERN DESCRIPTION SETUP: a copy of toy that SETUP has changed cannot be added
repository() {
	local status=$1 pattern=$2
	rm -rf bad && cp -r toy bad && (cd bad && eval "$4") >/dev/null 2>&1
	known >before
	test_that "no repository: $3" 'run $status solver add --recipe plain.recipe bad bad && sentence "$pattern" && empty out && known >after && cmp before after && serves'
}
# accepted COMMITS DESCRIPTION SETUP: it can be added, and has as many commits; as the solver good$n
accepted() {
	local commits=$1
	rm -rf good && cp -r toy good && (cd good && eval "$3") >/dev/null 2>&1
	name=good$((n + 1))
	test_that "a repository: $2" 'run 0 solver add --recipe plain.recipe $name good && has err "added $name: $commits commits" && [ $(wc -l <err) = 1 ] && serves'
}

repository 1 'cannot find the repository .*bad|there is no repository at bad' "not there" 'rm -rf ../bad'
repository 1 'Not a directory' "a file" 'rm -rf ../bad; echo x >../bad'
repository 1 'Not a directory' "a fifo" 'rm -rf ../bad; mkfifo ../bad'
repository 1 'there is no repository at bad' "a symlink to itself" 'rm -rf ../bad; ln -s bad ../bad'
repository 1 'bad is not a git repository' "an empty folder" 'rm -rf .git *'
repository 1 'bad has no commits yet' "no commit" 'rm -rf .git; git init'
repository 1 'bad has no commits yet' "bare, no commit" 'rm -rf .git *; git init --bare'
repository 1 'fetch --unshallow' "shallow" 'rm -rf .git; git clone --depth 1 "file://$top/toy" x; mv x/.git .'
repository 1 'is not a git repository' "no HEAD" 'rm .git/HEAD'
repository 1 'is not a git repository' "HEAD is a fifo" 'rm .git/HEAD; mkfifo .git/HEAD'
repository 1 'is not a git repository' "no objects" 'rm -rf .git/objects'
repository 1 'is not a git repository' "no refs" 'rm -rf .git/refs'
repository 1 'is not a git repository' ".git names a folder that is not there" 'rm -rf .git; echo "gitdir: nowhere" >.git'
repository 1 'is not a git repository' ".git is a symlink to itself" 'rm -rf .git; ln -s .git .git'
repository 1 'is not a git repository' ".git is a fifo" 'rm -rf .git; mkfifo .git'
repository 4 'cannot open .*config' "its config cannot be read" 'echo "[core" >.git/config'
repository 4 'cannot open .*version 99' "of a later format" 'git config core.repositoryformatversion 99'
repository 4 'cannot open .*objectformat' "of SHA-256" 'rm -rf .git; git init --object-format=sha256'
repository 4 'refs/heads/main of .* cannot be read.*fsck' "the newest commit is damaged" 'over $(loose HEAD)'
repository 4 'refs/heads/main of .* cannot be read.*fsck' "the newest commit is empty" 'f=$(loose HEAD); chmod u+w $f; : >$f'
repository 4 'refs/heads/main of .* cannot be read.*fsck' "the newest commit is lost" 'rm -f $(loose HEAD)'
repository 4 'refs/heads/main of .* cannot be read' "a branch on an object that never was" 'echo 1234567890123456789012345678901234567890 >.git/refs/heads/main'
repository 4 'damaged' "an older commit is damaged" 'over $(loose HEAD~1)'
repository 4 'damaged' "an older commit is lost" 'rm -f $(loose HEAD~1)'
repository 4 'refs/tags/t of .* cannot be read' "what an annotated tag is on is lost" \
	'git checkout -q --detach && echo x >x && git add x && git "${toy_author[@]}" commit -qm x && git "${toy_author[@]}" tag -am t t && rm -f $(loose HEAD) && git symbolic-ref HEAD refs/heads/main'
repository 4 'cannot be read.*fsck' "its pack is overwritten" 'pack; dd if=/dev/zero of=$(echo .git/objects/pack/*.pack) bs=1 seek=12 count=2000 conv=notrunc'
repository 4 'cannot be read.*fsck' "its pack is cut" 'pack; truncate -s 50 .git/objects/pack/*.pack'
repository 4 'cannot be read.*fsck' "its pack has lost its index" 'pack; rm -f .git/objects/pack/*.idx'
repository 4 'cannot be read.*fsck' "the index of its pack is cut" 'pack; truncate -s 50 .git/objects/pack/*.idx'
repository 4 'cannot read the refs' "its packed refs are none" 'echo garbage >.git/packed-refs'
repository 4 'cannot be read.*fsck|lacks' "what it borrowed from another is gone" 'pack; echo /nowhere >.git/objects/info/alternates; rm -f .git/objects/pack/*'

accepted 3 "bare" 'git clone -q --bare . x; rm -rf .git; mv x .git; git config core.bare true'
accepted 3 "another user's (safe.directory is not for who only reads)" '[ "$(id -u)" != 0 ] || chown -R 12345:12345 .'
accepted 3 "HEAD leads nowhere" 'echo "ref: refs/heads/nowhere" >.git/HEAD'
accepted 3 "HEAD is garbage" 'echo garbage >.git/HEAD'
accepted 3 "HEAD on a commit, no branch, no tag" 'git checkout -q --detach; git branch -D main; git tag -l | xargs git tag -d'
$mounted && test_that "its HEAD is that commit" 'await "[ -e \"$mnt/$name/head/message\" ]" && [ "$(readlink "$mnt/$name/head")" = "commits/$(git -C toy rev-parse main)" ]'
accepted 3 "branches named by garbage, a symlink, a fifo" 'echo garbage >.git/refs/heads/g; ln -s /dev/zero .git/refs/heads/z; mkfifo .git/refs/heads/f; ln -s /etc/passwd .git/refs/heads/p'
accepted 3 "branches named with slashes, .., newline, quotes, colons and no UTF-8" '
	s=$(git rev-parse HEAD)
	for f in "a..b" $'"'new\nline'"' ".hidden" "x.lock" "q\"uote" "col:on" "sp ace" $'"'\\377\\376'"' "@{x" "~1"; do printf "%s\n" "$s" >".git/refs/heads/$f"; done
	git branch deep/er/est; git branch "q'"'"'uote"; git branch "\$(ran)"; git branch "%s%n"; git branch "$(printf "b%.0s" $(seq 240))"'
if $mounted; then
	test_that "branches that git allows are there, others are not" '
		await "[ -e \"$mnt/$name/branches/deep/er/est\" ]" &&
		(cd "$mnt/$name/branches" && [ "$(readlink "q'"'"'uote")" = "../commits/$(git -C "$top/toy" rev-parse main)" ] && [ -e "\$(ran)/message" ] && [ -e %s%n/message ] &&
		[ ! -e a..b ] && [ ! -e "sp ace" ] && [ ! -e .hidden ] && [ ! -e x.lock ] && [ ! -e "~1" ] && ! ls -A | grep -q line) && serves'
fi
accepted 4 "trees full of symlinks, submodules and names" '
	ln -s / root; ln -s ../../../../etc up; ln -s loop loop; ln -s "$(printf "l%.0s" $(seq 4000))" long; mkdir -p .github "new
line" && echo x >"new
line/q\"uote"; printf x >"$(printf "\377")"; echo x >-rf; echo x >"$(printf "n%.0s" $(seq 255))"
	printf "[submodule \"evil\"]\n\tpath = evil\n\turl = ext::touch ran\n" >.gitmodules
	git add -A; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),evil; git "${toy_author[@]}" commit -qm many; ! git ls-files | grep -q x.lock'
test_that "it is built, and nothing outside was touched" 'run 0 build $name HEAD && [ "$(field 2)" = ok ] && [ ! -e ran ] && [ ! -e good/ran ] && serves'
$mounted && test_that "its changes are a list that can be read" 'await "[ -e \"$mnt/$name/head/changes\" ]" && [ "$(grep -c "^A" "$mnt/$name/head/changes")" -ge 8 ] && grep -q "^A	\"new.nline/q.\"uote\"$" "$mnt/$name/head/changes"'
for kind in damaged lost; do
	accepted 4 "a file of the newest commit is $kind" "echo '# $kind' >>toy.sh; git \"\${toy_author[@]}\" commit -qam $kind; $([ $kind = lost ] && echo 'rm -f' || echo over) \$(loose HEAD:toy.sh)"
	test_that "that commit is an error, no build" 'run 4 build $name HEAD && has err "solverfs: " && empty out'
	test_that "the others are built" 'run 0 build $name v1 && [ "$(field 2)" = ok ] && serves'
	$mounted && test_that "and EIO in the mount" 'await "[ -e \"$mnt/$name/commits/HEAD\" ]"; ! cat "$mnt/$name/commits/HEAD/bin/toy" >out 2>err; has err "Input/output error"'
done

# A git tree can hold what no git writes: a name with a slash, "..", ".git". Written by hand.
accepted 4 "a tree with '..', '.git' and slashes for names" '
	b=$(git rev-parse HEAD:build.sh) t=$(git rev-parse HEAD:toy.sh)
	raw() { printf "100644 %s\0" "$1"; printf %s "$2" | xxd -r -p; }
	{ raw ".." $t; raw "../../escaped" $t; raw ".git" $t; raw "build.sh" $b; raw "toy.sh" $t; } >tree
	h=$(git hash-object -t tree -w --literally tree) && git update-ref refs/heads/main $(git "${toy_author[@]}" commit-tree -p HEAD -m names $h)'
test_that "is not checked out, or harmlessly" 'timeout 60 "$solverfs" build $name HEAD >out 2>err; [ $? = 1 ] || [ $? = 4 ] || has out ok; has err . && ! find "$SOLVERFS_STORE" -name escaped | grep -q . && serves'

# -- updates --

# update STATUS PATTERN DESCRIPTION SETUP: upstream has a commit more and SETUP; it is refused, and everything is as before
update() {
	local status=$1 pattern=$2
	rm -rf up && cp -r toy up
	name=up$((n + 1))
	run 0 solver add --recipe plain.recipe $name up -q
	(cd up && echo "# more" >>toy.sh && git add -A && git "${toy_author[@]}" commit -qm more && eval "$4") >/dev/null 2>&1
	known >before
	test_that "no update: $3" 'run $status solver update $name && sentence "$pattern" && empty out && known >after && cmp before after && serves && run 0 build $name v1'
}
update 1 "cannot find the repository|there is no repository" "upstream is gone" 'rm -rf ../up'
update 1 "is not a git repository" "upstream is no repository any more" 'rm .git/HEAD'
update 1 "fetch --unshallow" "upstream is shallow now" 'git rev-parse HEAD >.git/shallow'
update 4 "refs/heads/main of .* cannot be read" "the new commit is damaged" 'over $(loose HEAD)'
update 4 "cannot get the objects" "a new file is damaged" 'over $(loose HEAD:toy.sh)'
update 4 "cannot get the objects" "a new tree is lost" 'rm -f $(loose HEAD^{tree})'
update 4 "cannot read the refs" "the refs cannot be read" 'echo garbage >.git/packed-refs'
test_that "one that fails keeps no other from its update" 'run 4 solver update && has out "^toy	0	3" && serves'

rm -rf up && cp -r toy up && run 0 solver add --recipe plain.recipe rewritten up -q
old=$(git -C up rev-parse HEAD)
run 0 run rewritten "$old" 1 -q
(cd up && git reset -q --hard HEAD~2 && echo "# other" >>toy.sh && git "${toy_author[@]}" commit -qam other && git tag -d v3 && git reflog expire --expire=now --all && git gc -q --prune=now) >/dev/null
test_that "rewritten upstream: the update has the new one" 'run 0 solver update rewritten && [ "$(field 2,3)" = "1	4" ] && [ "$(field 4)" = "$(git -C up rev-parse HEAD)" ]'
test_that "the old one is built and run still, by its name" 'run 0 build rewritten "$old" && run 0 run rewritten "${old:0:10}" 1 --again && [ "$(field 2)" = sat ] && run 3 build rewritten v3'
test_that "and can be updated again" 'run 0 solver update rewritten && [ "$(field 2,3)" = "0	4" ]'
$mounted && test_that "in the mount too" 'ls "$mnt/rewritten/commits" | grep -qx $old && ls "$mnt/rewritten/cached" | grep -qx $old && [ "$(cat "$mnt/rewritten/commits/$old/message")" = "always sat" ] && [ "$(cat "$mnt/rewritten/commits/$old/cases/1/result")" = sat ]'

echo "1..$n"
