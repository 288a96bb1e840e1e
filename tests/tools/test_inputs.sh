#!/bin/bash
# What people hand in, and what is wrong with it: repositories, cases, recipes and revisions, through the command and (where there is
# /dev/fuse) a mount that has to go on serving. Tables; a row is one thing handed in. Prints TAP. Usage: test_inputs.sh SOLVERFS
. "$(dirname "$0")/command.sh"

mnt=$top/mnt
mkdir "$mnt"
mounted=false
clean_up() {
	$mounted && timeout 200 "$solverfs" -q unmount --lazy "$mnt"
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

in_mount() { where $mounted /dev/fuse test_that "$@"; } # in_mount DESCRIPTION COMMAND...
# The mount still answers with what it had.
serves() { ! $mounted || [ "$(timeout 200 cat "$mnt/toy/commits/HEAD/cases/1/result")" = sat ]; }
# One line that says it, and no more (a sanitizer, an assertion or a library would say more).
sentence() { [ "$(wc -l <err)" = 1 ] && has err "^solverfs: " && has err "$1"; }
known() { # what the store knows and holds; to be the same before and after
	run 0 solver list && cat out
	(cd "$SOLVERFS_STORE/repos" && ls -A | grep -v '\.lock$')
	cat "$SOLVERFS_STORE/config"
	$mounted && ls "$mnt"
}

# libgit2 1.5 loses 16 bytes when a walk meets a commit that cannot be read; its frames have no names here.
walk_fails() { (
	{ cat "$source_dir/tests/support/leaks.txt" && echo "leak:libgit2.so"; } >"$top/lsan"
	export LSAN_OPTIONS="suppressions='$top/lsan':print_suppressions=0"
	repository "$@"
); n=$((n + 1)); }

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
latin=$(printf 'caf\351')
test_that "no repository: at an address that the config cannot hold, before it is cloned" '
	cp -r toy "$latin" && run 1 solver add --recipe plain.recipe bad "$latin" && sentence "cannot hold the address .*caf.xe9." && [ ! -e "$SOLVERFS_STORE/repos/bad.git" ]'
repository 1 'Not a directory' "a file" 'rm -rf ../bad; echo x >../bad'
repository 1 'Not a directory' "a fifo" 'rm -rf ../bad; mkfifo ../bad'
repository 1 'there is no repository at bad' "a symlink to itself" 'rm -rf ../bad; ln -s bad ../bad'
repository 1 'bad is not a git repository' "an empty folder" 'rm -rf .git *'
repository 1 'bad has no commits yet' "no commit" 'rm -rf .git; git init'
repository 1 'bad has no commits yet' "bare, no commit" 'rm -rf .git *; git init --bare'
repository 1 'fetch --unshallow' "shallow" 'rm -rf .git; git clone --no-local --depth 1 "$top/toy" x; mv x/.git .'
repository 1 'is not a git repository' "no HEAD" 'rm .git/HEAD'
for file in HEAD config packed-refs commondir objects/info/alternates objects/ab/cdef objects/pack/pack-1.idx info/exclude; do
	repository 1 "$file is a fifo.*take it away" "$file is a fifo" "rm -rf .git/$file; mkdir -p \$(dirname .git/$file); mkfifo .git/$file"
done
repository 1 'HEAD is a device' "HEAD is a link to /dev/zero" 'ln -sf /dev/zero .git/HEAD'
repository 1 'objects/y is a fifo' "an object of what it borrows from is a fifo" 'cp -r .git ../lender; mkfifo ../lender/objects/y; echo ../../../lender/objects >.git/objects/info/alternates'
repository 1 'packed-refs is a fifo' "of a linked worktree" 'git worktree add -q --detach ../borrowed; rm -f .git/packed-refs; mkfifo .git/packed-refs; mv .git ../real; echo "gitdir: ../real/worktrees/borrowed" >.git'
repository 1 'is not a git repository' "no objects" 'rm -rf .git/objects'
repository 1 'is not a git repository' "no refs" 'rm -rf .git/refs'
repository 1 'is not a git repository' ".git names a folder that is not there" 'rm -rf .git; echo "gitdir: nowhere" >.git'
repository 1 'is not a git repository' ".git is a symlink to itself" 'rm -rf .git; ln -s .git .git'
repository 1 'is a fifo.*take it away' "HEAD's branch is a link to a fifo" 'b=.git/$(git symbolic-ref HEAD); rm -f "$b"; mkfifo ../pipe; ln -s "$PWD/../pipe" "$b"'
repository 1 '.git is a fifo' ".git is a fifo" 'rm -rf .git; mkfifo .git'
repository 4 'cannot open .*config' "its config cannot be read" 'echo "[core" >.git/config'
repository 4 'cannot open .*version 99' "of a later format" 'git config core.repositoryformatversion 99'
repository 4 'cannot open .*object ?format' "of SHA-256" 'rm -rf .git; git init --object-format=sha256'
repository 4 'refs/heads/main of .* cannot be read.*fsck' "the newest commit is damaged" 'over $(loose HEAD)'
repository 4 'refs/heads/main of .* cannot be read.*fsck' "the newest commit is empty" 'f=$(loose HEAD); chmod u+w $f; : >$f'
repository 4 'refs/heads/main of .* cannot be read.*fsck' "the newest commit is lost" 'rm -f $(loose HEAD)'
repository 4 'refs/heads/main of .* cannot be read' "a branch on an object that never was" 'echo 1234567890123456789012345678901234567890 >.git/refs/heads/main'
walk_fails 4 'damaged' "an older commit is damaged" 'over $(loose HEAD~1)'
walk_fails 4 'damaged' "an older commit is lost" 'rm -f $(loose HEAD~1)'
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
in_mount "its HEAD is that commit" 'await "[ -e \"$mnt/$name/head/message\" ]" && [ "$(readlink "$mnt/$name/head")" = "commits/$(git -C toy rev-parse main)" ]'
accepted 3 "branches named by garbage, a symlink, a fifo" 'echo garbage >.git/refs/heads/g; ln -s /dev/zero .git/refs/heads/z; mkfifo .git/refs/heads/f; ln -s /etc/passwd .git/refs/heads/p'
accepted 3 "branches named with slashes, .., newline, quotes, colons and no UTF-8" '
	s=$(git rev-parse HEAD)
	for f in "a..b" $'"'new\nline'"' ".hidden" "x.lock" "q\"uote" "col:on" "sp ace" $'"'\\377\\376'"' "@{x" "~1"; do printf "%s\n" "$s" >".git/refs/heads/$f"; done
	git branch deep/er/est; git branch "q'"'"'uote"; git branch "\$(ran)"; git branch "%s%n"; git branch "$(printf "b%.0s" $(seq 240))"'
in_mount "branches that git allows are there, others are not" '
	await "[ -e \"$mnt/$name/branches/deep/er/est\" ]" &&
	(cd "$mnt/$name/branches" && [ "$(readlink "q'"'"'uote")" = "../commits/$(git -C "$top/toy" rev-parse main)" ] && [ -e "\$(ran)/message" ] && [ -e %s%n/message ] &&
	[ ! -e a..b ] && [ ! -e "sp ace" ] && [ ! -e .hidden ] && [ ! -e x.lock ] && [ ! -e "~1" ] && ! ls -A | grep -q line) && serves'
accepted 4 "trees full of symlinks, submodules and names" '
	ln -s / root; ln -s ../../../../etc up; ln -s loop loop; ln -s "$(printf "l%.0s" $(seq 4000))" long; mkdir -p .github "new
line" && echo x >"new
line/q\"uote"; printf x >"$(printf "\377")"; echo x >-rf; echo x >"$(printf "n%.0s" $(seq 255))"
	printf "[submodule \"evil\"]\n\tpath = evil\n\turl = ext::touch ran\n" >.gitmodules
	git add -A; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),evil; git "${toy_author[@]}" commit -qm many; ! git ls-files | grep -q x.lock'
test_that "it is built, and nothing outside was touched" 'run 0 build $name HEAD && [ "$(field 2)" = ok ] && [ ! -e ran ] && [ ! -e good/ran ] && serves'
in_mount "its changes are a list that can be read" 'await "[ -e \"$mnt/$name/head/changes\" ]" && [ "$(grep -c "^A" "$mnt/$name/head/changes")" -ge 8 ] && grep -q "^A	\"new.nline/q.\"uote\"$" "$mnt/$name/head/changes"'
for kind in damaged lost; do
	accepted 4 "a file of the newest commit is $kind" "echo '# $kind' >>toy.sh; git \"\${toy_author[@]}\" commit -qam $kind; $([ $kind = lost ] && echo 'rm -f' || echo over) \$(loose HEAD:toy.sh)"
	test_that "that commit is an error, no build" 'run 4 build $name HEAD && has err "solverfs: " && empty out'
	test_that "the others are built" 'run 0 build $name v1 && [ "$(field 2)" = ok ] && serves'
	in_mount "and EIO in the mount" 'await "[ -e \"$mnt/$name/commits/HEAD\" ]"; ! cat "$mnt/$name/commits/HEAD/bin/toy" >out 2>err; has err "Input/output error"'
done

# A git tree can hold what no git writes: a name with a slash, "..", ".git". Written by hand.
accepted 4 "a tree with '..', '.git' and slashes for names" '
	b=$(git rev-parse HEAD:build.sh) t=$(git rev-parse HEAD:toy.sh)
	raw() { printf "100644 %s\0" "$1"; printf "$(sed "s/../\\\\x&/g" <<<"$2")"; }
	{ raw ".." $t; raw "../../escaped" $t; raw ".git" $t; raw "build.sh" $b; raw "toy.sh" $t; } >tree
	h=$(git hash-object -t tree -w --literally tree) && git update-ref refs/heads/main $(git "${toy_author[@]}" commit-tree -p HEAD -m names $h)'
test_that "is not checked out, or harmlessly" 'timeout 60 "$solverfs" build $name HEAD >out 2>err; r=$?; { [ $r = 1 ] || [ $r = 4 ] || { [ $r = 0 ] && has out ok; }; } && has err . && ! find "$SOLVERFS_STORE" -name escaped | grep -q . && serves'

# -- updates --

# update STATUS PATTERN DESCRIPTION SETUP: upstream has a commit more and SETUP; it is refused, and everything is as before
update() {
	local status=$1 pattern=$2
	rm -rf up && cp -r toy up
	name=up$((n + 1))
	run 0 solver add --recipe plain.recipe $name up -q
	$mounted && await 'ls "$mnt" | grep -qx "$name"' # a listing may be a second old
	(cd up && echo "# more" >>toy.sh && git add -A && git "${toy_author[@]}" commit -qm more && eval "$4") >/dev/null 2>&1
	known >before
	test_that "no update: $3" 'run $status solver update $name && sentence "$pattern" && empty out && known >after && cmp before after && serves && run 0 build $name v1'
}
update 1 "cannot find the repository|there is no repository" "upstream is gone" 'rm -rf ../up'
update 1 "is not a git repository" "upstream is no repository any more" 'rm .git/HEAD'
update 1 "fetch --unshallow" "upstream is shallow now" 'git rev-parse HEAD >.git/shallow'
update 4 "refs/heads/main of .* cannot be read" "the new commit is damaged" 'over $(loose HEAD)'
update 4 "cannot get the objects" "a new file is damaged" 'over $(loose HEAD:toy.sh)'
update 4 "cannot get the objects.*damaged" "a new file is damaged, and so is a commit of no branch" 'over $(loose HEAD:toy.sh); echo x | git hash-object -t commit --literally -w --stdin'
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
in_mount "in the mount too" 'ls "$mnt/rewritten/commits" | grep -qx $old && ls "$mnt/rewritten/cached" | grep -qx $old && [ "$(cat "$mnt/rewritten/commits/$old/message")" = "always sat" ] && [ "$(cat "$mnt/rewritten/commits/$old/cases/1/result")" = sat ]'

# -- cases --

# A name, and bytes under it: by the command, and other bytes by cp under the same name with an "m" before it.
names=('new
line' 'q"uo'"'"'te' $'\xff\xfe' '-rf' ' ' $'\x01\x02\x7f' $'\xc2\x85' $'\xed\xa0\x80' $'\xf4\x90\x80\x80' '%s%n' '\' '$(touch ran)' $'\xe2\x80\xae' ';' '*' '...' '{"a":1}' '7' "$(printf 'n%.0s' $(seq 254))")
mkdir named
for name in "${names[@]}"; do
	printf '; answer: sat\n(check-sat)\n; %s\n' "$name" >"named/$name"
	test_that "a case called $(printf %.20q "$name")" 'run 0 case add --json "named/$name" && cat out >>objects && run 0 case list --json "named/$name" && cat out >>objects'
	run 0 case add -q "named/$name"
	id=$(field 1)
	in_mount "and in the mount, byte for byte" 'cmp "named/$name" "$mnt/cases/$id/input.smt2" && { cat "named/$name"; echo m; } >"named/m" && cp named/m "$mnt/cases/m$name" && cmp named/m "$mnt/cases/by-name/m$name/input.smt2"'
	rm -f named/m
done
test_that "each of these and all of them are JSON, an object a line" '
	run 0 case list --json && python3 -c "import json, sys; [json.loads(l)[\"name\"] for f in sys.argv[1:] for l in open(f, encoding=\"utf-8\")]" out objects && [ "$(wc -l <objects)" = $((2 * ${#names[@]})) ]'
test_that "and run, with JSON for each" 'run 0 run toy HEAD all --json && [ $(python3 -c "import json; print(sum(json.loads(l)[\"result\"] == json.loads(l)[\"run\"][\"verdict\"] == \"sat\" and len(json.loads(l)[\"run\"][\"case\"][\"sha256\"]) == 64 for l in open(\"out\", encoding=\"utf-8\")))") -gt ${#names[@]} ] && [ ! -e ran ]'

# refused STATUS PATTERN DESCRIPTION ARGUMENT...: no case
refused() {
	local status=$1 pattern=$2 about=$3
	shift 3
	local words=("$@")
	run 0 case list && cp out before
	test_that "no case: $about" 'run $status case add "${words[@]}" && sentence "$pattern" && empty out && run 0 case list && cmp out before && serves'
}
echo '; answer: sat; refused' >x
mkfifo pipe.smt2; ln -s nowhere dangling.smt2; ln -s round.smt2 round.smt2; : >empty.smt2; truncate -s 5G huge.smt2
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket.smt2")'
refused 1 "is empty" "an empty file" empty.smt2
refused 1 "not a file" "a fifo" pipe.smt2
refused 1 "not a file" "a device without end" /dev/zero
refused 1 "not a file" "a device without bytes" /dev/null
refused 1 "cannot be read" "a socket" socket.smt2
refused 1 "No such file" "a symlink to nowhere" dangling.smt2
refused 1 "Too many levels" "a symlink to itself" round.smt2
refused 1 "No such file" "a name of no bytes" ''
refused 1 "4294967296" "5 GB, at once" huge.smt2
refused 4 "Input/output error" "a file whose reading fails" /proc/self/mem
refused 1 "'.' and '..'" "../ in its name" --name ../x x
refused 1 "'.' and '..'" "../ within its name" --name a/../../x x
refused 1 "relative" "an absolute name" --name /x x
refused 1 "empty comp" "an empty part of a name" --name a//b x
refused 1 "needs a name" "no name" --name '' x
refused 1 "255 bytes" "a name of 256 bytes" --name "$(printf 'n%.0s' $(seq 256))" x
rm huge.smt2
if [ "$(id -u)" != 0 ]; then
	cp x unreadable.smt2 && chmod 0 unreadable.smt2
	refused 4 "Permission denied" "a file that may not be read" unreadable.smt2
else
	skip "no case: a file that may not be read" "root may read it"
fi
mkdir -p tree/in && cp x tree/in/a.smt2 && ln -s .. tree/in/round && ln -s nowhere tree/d.smt2 && mkfifo tree/p.smt2
test_that "a folder with loops, a dangling link and a fifo: the file is taken, the rest is said" 'run 1 case add tree && [ "$(wc -l <out)" = 1 ] && [ "$(field 3)" = in/a.smt2 ] && has err "round: a folder that holds itself" && has err "d.smt2: cannot be read: No such file" && serves'
test_that "a campaign may have any bytes in its name" '
	run 0 fuzz toy --name "$(printf "b\377d")" --reference HEAD --target HEAD:x --for 200ms -j 1 --json && [ "$(jq -r .campaign out)" = "b\\xffd" ]'
test_that "... of the file, and no other" 'mkdir dangling && ln -s nowhere dangling/link.smt2 && run 1 case add dangling && has err "dangling/link.smt2: cannot be read: No such file" && ! has err "toolchain|$SOLVERFS_STORE"'
test_that "a folder has no name" 'run 2 case add --name one tree && has err "name takes a FILE, and tree is a folder"'
test_that "a symlink's name, and the bytes it leads to" 'printf "; answer: sat\n; linked" >linked && ln -s linked sym.smt2 && run 0 case add sym.smt2 && [ "$(field 3)" = sym.smt2 ] && { ! $mounted || cmp linked "$mnt/cases/$(field 1)/input.smt2"; }'
(exec -a '; a case that nobody knows the size of' sleep 100) &
unknown=$!
await "grep -q '^; a case' /proc/$unknown/cmdline"
test_that "a file of unknown size is taken whole" 'run 0 case add /proc/$unknown/cmdline && { ! $mounted || cmp /proc/$unknown/cmdline "$mnt/cases/$(field 1)/input.smt2"; }'
kill $unknown
test_that "bytes of any kind are taken as they are" '{ printf "("; random_bytes 100000; } >binary.smt2 && run 0 case add binary.smt2 && { ! $mounted || cmp binary.smt2 "$mnt/cases/$(field 1)/input.smt2"; } && run 0 run toy HEAD binary.smt2'
printf '; answer: sat\n; answer: unsat\n(set-info :status sat)(check-sat)(set-info :status unsat)(check-sat)\n' >several.smt2
printf '; answer: unsat\n; answer: unsat\n(set-info :status sat)(check-sat)(set-info :status unsat)(check-sat); 2\n' >several2.smt2
run 0 case add several.smt2 several2.smt2
test_that "several check-sat: a line each, and the last is the verdict" 'run 0 run toy v1 several.smt2 --print result && is out "sat
unsat" && run 0 run toy v1 several.smt2 && [ "$(field 2,7)" = "sat,unsat	correct" ]'
test_that "one wrong among them counts for all" 'run 1 run toy v1 several2.smt2 && has err "WRONG ANSWER" && [ "$(field 7)" = WRONG ]'
printf '; ' >large.smt2 && truncate -s 64M large.smt2 && echo '; the end' >>large.smt2
test_that "64 MB" 'run 0 case add large.smt2 && [ "$(field 2)" = new ] && run 0 case list large.smt2 && has out 67108874'
in_mount "64 MB by cp are the same case, and are read whole" 'cp large.smt2 "$mnt/cases/again.smt2" && run 0 case list large.smt2 && [ "$(wc -l <out)" = 1 ] && cmp large.smt2 "$mnt/cases/$(field 1)/input.smt2" && [ ! -e "$mnt/cases/by-name/again.smt2" ] && serves'
# cp_refused ERROR DESCRIPTION COMMAND
cp_refused() {
	local error=$1 command=$3
	! $mounted || ls "$mnt/cases" >before
	in_mount "not through the mount: $2" '! eval "$command" >out 2>err && has err "$error" && ls "$mnt/cases" >after && cmp before after && serves'
}
cp_refused "Invalid argument" "an empty file" 'cp empty.smt2 "$mnt/cases/"'
cp_refused "File name too long" "256 bytes" 'cp x "$mnt/cases/$(printf "n%.0s" $(seq 256))"'
cp_refused "Read-only|not permitted|Permission" "a fifo" 'mkfifo "$mnt/cases/fifo"'
cp_refused "Read-only|not permitted|Permission" "a device" 'mknod "$mnt/cases/null" c 1 3'
cp_refused "Read-only|not permitted|Permission" "a symlink" 'cp -P dangling.smt2 "$mnt/cases/"'
cp_refused "Read-only|not permitted|Permission" "a folder" 'cp -r tree/in "$mnt/cases/"'
cp_refused "File exists" "a name that other bytes have" 'cp x "$mnt/cases/a.smt2"'
cp_refused "Read-only|not permitted|Permission" "beside cases/" 'cp x "$mnt/cases/../x"'
rm -f large.smt2

# -- recipes and names of solvers --

# recipe PATTERN DESCRIPTION TEXT (for printf): status 1, file and line, nothing added
good_recipe='[solver]\n format = smt2\n build = true\n output = toy\n run = {bin} {case}\n'
recipe() {
	local pattern=$1
	printf "$3" >bad.recipe
	known >before
	test_that "no recipe: $2" 'run 1 solver add bad toy --recipe bad.recipe && sentence "$pattern" && empty out && known >after && cmp before after'
}
recipe "bad.recipe" "nothing" ''
recipe "bad.recipe" "NUL bytes" '\0\0\0'
recipe "bad.recipe:6" "an unknown key" "${good_recipe} biuld = x\n"
recipe "bad.recipe:6" "an unknown section" "${good_recipe}[solvre]\n"
recipe "bad.recipe:1" "a section without an end" '[solver\n'
recipe "bad.recipe:6" "a key twice" "${good_recipe} run = {case}\n"
recipe "bad.recipe" "no run" '[solver]\n build = true\n output = toy\n'
recipe "bad.recipe:6" "a time that is none" "${good_recipe} timeout = soon\n"
recipe "bad.recipe:6" "a memory that is none" "${good_recipe} memory = -1\n"
recipe "bad.recipe:6" "a number too large" "${good_recipe} samples = 99999999999999999999\n"
recipe "bad.recipe:6" "bytes that are no UTF-8" "${good_recipe} option = \xff\xfe\n"
recipe "bad.recipe:6" "a variant with a path for a name" "${good_recipe}[variant \"../x\"]\n arguments = -a\n"
recipe "bad.recipe" "a variant called as the solver" "${good_recipe}[variant \"bad\"]\n arguments = -a\n"
recipe "bad.recipe:5" "an unknown placeholder" '[solver]\n format = smt2\n build = true\n output = toy\n run = {bin} {cases}\n'
recipe "bad.recipe:4" "an output outside" '[solver]\n format = smt2\n build = true\n output = ../toy\n run = {bin} {case}\n'
for name in '' . .. ../x a/b /x .solverfs cases sets compare README portfolios 'a b' $'\xff' "$(printf 'n%.0s' $(seq 256))"; do
	known >before
	test_that "no name for a solver: $(printf %.20q "$name")" 'timeout 60 "$solverfs" solver add --recipe plain.recipe -- "$name" toy >out 2>err; [ $? = 1 ] && sentence . && empty out && known >after && cmp before after'
done
test_that "no recipe: a folder, a fifo, /dev/zero, not there" '
	for file in ./tree /dev/zero /dev/null; do run 1 solver add --recipe $file bad toy && sentence . || exit 1; done; run 3 solver add --recipe ./nowhere.recipe bad toy && sentence nowhere.recipe'

# -- revisions --

git -C toy tag a-tree 'HEAD^{tree}' && git -C toy tag a-blob HEAD:toy.sh && run 0 solver update toy -q
for revision in --help -x - -- 'HEAD^{/(}' '@{u}' '@{-1}' 'HEAD@{yesterday}' a.. ..a 'HEAD...v1' v1..v3..v1 ../../x /etc/passwd . "$(printf 'a%.0s' $(seq 10000))" "$(printf 'HEAD%s' "$(printf '^%.0s' $(seq 9000))")" \
	:/ :/x HEAD~99999999999 HEAD~4294967295 HEAD~-1 HEAD^99 'HEAD^{tree}' 'HEAD^{}x' 'HEAD^{commit' HEAD: HEAD:toy.sh "$(git -C toy rev-parse HEAD:toy.sh)" "$(git -C toy rev-parse HEAD:toy.sh | cut -c 1-8)" a-tree a-blob \
	'' ' ' '^HEAD' '~' '*x' '[' '?' '%s%n' $'\xff\xfe' 0000000000000000000000000000000000000000; do
	test_that "no revision: $(printf %.20q "$revision")" '
		run 3 build toy -- "$revision" && sentence . && empty out && run 3 run toy -- "$revision" 1 && sentence . && empty out &&
		case $mounted$revision in
		true | true. | true../* | false*) true ;;
		*) ! stat "$mnt/toy/commits/$revision" >out 2>err && has err "No such file|File name too long" && [ ! -e "$mnt/toy/cached/$revision" ] ;;
		esac'
done
test_that "a range of nothing is nothing" 'run 0 build toy HEAD..HEAD && empty out && run 0 build toy -- .. && empty out && run 0 run toy -- .. 1 && empty out'
test_that "as options they are wrong usage, or help" 'run 2 build toy -x && run 2 run toy --frob 1 && run 0 build toy --help && run 2 build toy && run 2 run toy'

test_that "nothing is damaged but the repositories that came so" 'run 1 fsck && ! grep "^damaged" out | grep -v "^damaged	repositories" && serves'

# -- a solver whose repository comes later, as from a backup --

repos=$SOLVERFS_STORE/repos
in_mount "a solver that was left out is there when its repository is" '
	sed "s/^\[solver\]/[solver \"later\"]/" plain.recipe >>"$SOLVERFS_STORE/config" && await "grep -q later \"$mnt/.solverfs/status\"" && [ ! -e "$mnt/later" ] &&
	cp -r "$repos/toy.git" "$repos/later.git" && await "[ -e \"$mnt/later\" ]" && ! grep -q later "$mnt/.solverfs/status" && serves'

# -- a recipe that is worked on --

test_that "a bad name is said before the recipe is looked at" 'run 1 solver add "bad name" toy --recipe nowhere.recipe && sentence "^solverfs: .bad name. cannot be a solver"'
test_that "all mistakes of a recipe are told" '
	printf "[solver]\nbuild = a; b\nbuild = \\\\q\n" >slips.recipe && run 1 solver add slips toy --recipe slips.recipe && has err "slips.recipe:2: " &&
	printf "[solver]\nbiuld = a\ntimeout = soon\n" >slips.recipe && run 1 solver add slips toy --recipe slips.recipe && [ "$(grep -c "slips.recipe:" err)" = 4 ]'
printf '# why\n[solver]\n  # the paths\n  paths = nosuchdir\n  build = sh build.sh\n  output = prog\n  run = {bin} {case}\n  samples = 1\n[variant "work-v"]\n  timeout = 1s\n' >work.recipe
test_that "paths that no commit has are a warning" 'run 0 solver add work toy --recipe work.recipe && has err "paths = nosuchdir: no commit of work has it$"'
test_that "several on one line are one path, and that is said" '
	sed "s/paths = nosuchdir/paths = build.sh toy.sh/" work.recipe >lines.recipe && sed -i "/variant/,\$d" lines.recipe && run 0 solver add lines toy --recipe lines.recipe &&
	has err "paths = build.sh toy.sh: no commit of lines has it; one path on each .paths. line" && run 0 solver remove lines'
test_that "and a build says that none of them is there" 'run 1 build work HEAD && has err "has none of the recipe.s .paths."'
test_that "comments are kept" 'grep -A3 -F "[solver \"work\"]" "$SOLVERFS_STORE/config" | grep -A1 "^# why" | grep -q "# the paths"'
test_that "a recipe is replaced" '
	sed -i "/nosuchdir/d; /variant/,\$d" work.recipe && run 0 solver add --replace work --recipe work.recipe && has err "variant work-v is not in the recipe" &&
	[ "$(grep -c "# why" "$SOLVERFS_STORE/config")" = 1 ] && ! grep -q nosuchdir "$SOLVERFS_STORE/config"'
test_that "a build that made another program names it" 'run 1 build work v1 && has err "the build made no prog; programs that it made: toy"'
toy_recipe latin 'output = prog' "build = cp toy.sh n\$(printf '\\\\366') && chmod +x n*"
test_that "... in JSON, too, if its name is not UTF-8" '
	run 0 solver add latin toy --recipe latin.recipe && run 1 build latin v1 --json && has out "\"reason\":.*programs that it made: n" && run 1 run latin v1 a.smt2 --json && has out "\"reason\":.*programs that it made: n" && run 0 solver remove latin'
test_that "and again, with the same repository" 'sed -i "s/= prog/= toy/" work.recipe && run 0 solver add --replace work toy --recipe work.recipe && run 0 build work v1'
test_that "more words are refused" 'run 2 solver add --replace work toy more --recipe work.recipe && has err "too many arguments: expected NAME REPO"'
git clone -q toy third && git -C third -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m third
test_that "and from another one, whose commits are fetched" '
	run 0 solver add --replace work third --recipe work.recipe && run 0 build work "$(git -C third rev-parse HEAD)" && run 0 solver list && has out "^work	.*	$top/third$"'
test_that "... which no address that is none takes the place of" 'run 1 solver add --replace work nosuch --recipe work.recipe && run 0 solver list && has out "^work	.*	$top/third$"'
test_that "an address that a person writes into the config is fetched from" '
	git -C toy -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m fourth && git config --file "$SOLVERFS_STORE/config" solver.work.repository "$top/toy" && run 0 solver update work && has out "^work	1	" &&
	run 0 build work "$(git -C toy rev-parse HEAD)" && git -C toy reset -q --hard HEAD~'
test_that "a variant has no recipe of its own to replace" 'run 1 solver add --replace work-v --recipe work.recipe && has err "is a variant of work"'
test_that "--replace of a new solver wants a repository" 'run 1 solver add --replace fresh --recipe work.recipe && has err "say where its repository is" && run 0 solver add --replace fresh toy --recipe work.recipe'

# -- what a build reads beside its repository: folders of the machine, submodules, downloads --

with_git() { git -c user.name=Toy -c user.email=toy@example.org -c protocol.file.allow=always "$@"; }
# The sources answer what the file says that $1 names.
elsewhere() {
	printf '[solver]\n  build = %s && printf "#!/bin/sh\\\\necho $answer\\\\n" >made && chmod +x made\n  output = made\n  run = {bin} {case}\n  samples = 1\n  %s\n' "answer=\$(cat $1)" "$2" | sed 's/build = \(.*\)$/build = "\1"/; s/printf "#/printf \\"#/; s/n" >made/n\\" >made/' >elsewhere.recipe
}
answers() { run 0 run "$1" HEAD a.smt2 && [ "$(field 2)" = "$2" ]; }

mkdir lib && echo sat >lib/answer
elsewhere "$top/lib/answer" "dependency = $top/lib"
case $top in
/tmp/*) sed -i 's/^  dependency.*/  dependency = \/tmp\/x/' elsewhere.recipe
	test_that "a dependency below what a build has of its own is refused" 'run 1 solver add depends toy --recipe elsewhere.recipe && sentence "a build has a /tmp of its own"' ;;
esac
shared=$(mktemp -d /var/lib/solverfs-test-XXXXXX 2>/dev/null)
if [ -n "$shared" ]; then
	outside+=("$shared")
	chmod 755 "$shared" && echo sat >"$shared/answer" && chmod 644 "$shared/answer"
	elsewhere "$shared/answer" "dependency = $shared"
	test_that "a build reads a folder of the machine" 'run 0 solver add depends toy --recipe elsewhere.recipe && answers depends sat'
	test_that "its content is part of what the build used" '
		echo unknown >"$shared/answer" && answers depends sat && run 0 build depends HEAD && has err "toolchain changed: $shared/answer" && run 0 build --renew depends HEAD && answers depends unknown &&
		echo sat >"$shared/answer" && run 0 build --renew depends HEAD && answers depends sat'
	test_that "one that is not there is no failure of the commit" 'mv "$shared" "$shared.away"; run 4 build --renew depends HEAD; r=$?; mv "$shared.away" "$shared"; has err "is not there: install it" && (exit $r) && answers depends sat'
fi

git init -q -b main sub && echo sat >sub/answer && with_git -C sub add -A && with_git -C sub commit -qm sub
git init -q -b main super && with_git -C super submodule --quiet add ../sub deps/sub >/dev/null 2>&1 && with_git -C super commit -qm super
elsewhere deps/sub/answer ""
test_that "a submodule is an empty folder" 'run 0 solver add super super --recipe elsewhere.recipe && run 1 build --log super HEAD && has out "submodule deps/sub is an empty folder: the recipe has no key"'
test_that "--submodules fetches it" 'run 0 solver add --replace --submodules super --recipe elsewhere.recipe && grep -q "submodule = deps/sub=$top/sub" "$SOLVERFS_STORE/config" && answers super sat && run 0 solver list && has out "^super	1	"'
test_that "a recipe that comes without the lines says so" '
	run 0 solver add --replace super --recipe elsewhere.recipe && has err "had a .submodule. line for deps/sub; .solverfs solver add --replace super --submodules. writes" && ! grep -q "submodule = " "$SOLVERFS_STORE/config" &&
	run 1 solver try super && has out "empty folders: .solverfs solver add --replace super --submodules. fetches them"'
test_that "... and that command gives them to the recipe in force, whose comments stay" '
	sed -i "s/^\[solver \"super\"\]/&\n\t# kept/" "$SOLVERFS_STORE/config" && run 0 solver add --replace super --submodules && grep -q "# kept" "$SOLVERFS_STORE/config" && run 0 build super HEAD && answers super sat &&
	cp "$SOLVERFS_STORE/config" before && run 0 solver add --replace super --submodules && cmp before "$SOLVERFS_STORE/config"'
for place in ends-sub ends; do git init -q -b main $place && for name in a.bat a.txt; do echo $place/$name >$place/$name; done; done
echo "*.bat text eol=crlf" >ends-sub/.gitattributes && with_git -C ends-sub add -A && with_git -C ends-sub commit -qm ends
echo "*.txt text eol=crlf" >ends/.gitattributes && with_git -C ends submodule --quiet add ../ends-sub deps/sub >/dev/null 2>&1 &&
	echo "grep -l \$(printf '\r') a.* deps/sub/a.* && echo made >made" >ends/build.sh && with_git -C ends add -A && with_git -C ends commit -qm ends
toy_recipe ends 'output = made' && test_that "line ends in a submodule are by its own .gitattributes, as with git" '
	run 0 solver add --submodules ends ends --recipe ends.recipe && run 0 build --log ends HEAD && [ "$(grep "^[a-z/]*a\.[a-z]*$" out | tr "\n" " ")" = "a.txt deps/sub/a.bat " ]'
test_that "an update fetches new ones" '
	echo unknown >sub/answer && with_git -C sub commit -qam two && with_git -C super/deps/sub pull -q && with_git -C super commit -qam two && run 0 solver update super && answers super unknown'
test_that "a variant fetches the folder from a repository of its own" '
	git clone -q super kept && git -C kept checkout -q HEAD~ && echo >kept/more && git -C kept add more && with_git -C kept commit -qm more && git clone -q --bare sub kept-sub && sed "/submodule/d" elsewhere.recipe >kept.recipe && printf "[variant \"kept-v\"]\n\tsubmodule = deps/sub=$top/kept-sub\n" >>kept.recipe &&
	run 0 solver add kept kept --recipe kept.recipe && answers kept-v sat &&
	git -C sub push -q ../kept-sub HEAD:main && git -C kept update-index --cacheinfo "160000,$(git -C sub rev-parse HEAD),deps/sub" && with_git -C kept commit -qm newer && run 0 solver update && ! has out "^kept-v" && answers kept-v unknown; r=$?; run 0 solver remove kept kept-v; (exit $r)'
# One that the solver's own commits know nothing of.
old=$(git -C sub rev-parse HEAD~1) && elsewhere more/sub/answer "submodule = more/sub=$top/sub $old"
test_that "a folder of another repository, at the commit that the recipe names" 'run 0 solver add more toy --recipe elsewhere.recipe && answers more sat'
test_that "another commit of it is another build" 'sed -i "s/$old/$(git -C sub rev-parse HEAD)/" elsewhere.recipe && run 0 solver add --replace more toy --recipe elsewhere.recipe && answers more unknown'
test_that "a commit that it does not have is an error, which the next update can mend" '
	sed -i "s/ [0-9a-f]*\$/ $(printf %040d 7)/" elsewhere.recipe && run 0 solver add --replace more toy --recipe elsewhere.recipe && run 4 build more HEAD && has err "submodule more/sub is at commit 0*7, which no branch or tag of .*/sub had"'
with_git -C super/deps/sub commit --allow-empty -qm "not there yet" && with_git -C super commit -qam three
test_that "a submodule's commit that comes later is built then" '
	run 0 solver update super && run 4 build super HEAD && has err "submodule deps/sub is at commit .*, which no branch or tag" &&
	with_git -C super/deps/sub push -q "$top/sub" HEAD:later && run 0 solver update super && answers super unknown'
test_that "a commit that is none is refused" '
	sed -i "s|submodule = .*|submodule = more/sub=https://example.org/sub v1.0|" elsewhere.recipe && run 1 solver add --replace more toy --recipe elsewhere.recipe && has err "v1.0. is not the 40 hex digits of a commit"'
test_that "where the sources have files, there is no room for it" '
	elsewhere a "submodule = toy.sh=$top/sub $old" && run 0 solver add --replace more toy --recipe elsewhere.recipe && run 1 build more HEAD && has err "is at the path of a file of the sources"'
test_that "nothing that a submodule's configuration or hooks name is run" '
	printf "#!/bin/sh\ntouch %s\n" "\"$top/ran\"" >trap && chmod +x trap && cp trap sub/.git/hooks/post-checkout && cp trap sub/.git/hooks/reference-transaction &&
	for key in core.fsmonitor core.sshCommand core.askPass credential.helper uploadpack.packObjectsHook; do git -C sub config $key "$top/trap"; done
	echo "../../../nowhere" >sub/.git/objects/info/alternates
	run 0 solver update super && answers super unknown && [ ! -e ran ]; r=$?; rm -f sub/.git/objects/info/alternates; (exit $r)'
test_that "a submodule with a fifo in it is refused, and does not hang" '
	mv sub/.git/packed-refs away 2>/dev/null; mkfifo sub/.git/packed-refs && run 1 solver update super && has err "the submodule deps/sub: .*packed-refs is a fifo.*take it away"; r=$?
	rm -f sub/.git/packed-refs; mv away sub/.git/packed-refs 2>/dev/null; (exit $r)'
test_that "a branch of it that gives way to a folder of branches" '
	git -C sub branch x && run 0 solver update super && git -C sub branch -m x x/y && run 0 solver update super &&
	git -C "$SOLVERFS_STORE/repos/super.git" for-each-ref | grep -q "refs/submodules/.*/heads/x/y$" && ! git -C "$SOLVERFS_STORE/repos/super.git" for-each-ref | grep -q "heads/x$"'
test_that "fsck finds nothing wrong with these" 'run 1 fsck -n && ! has out "super"'

echo unknown >file.txt
sum=$(sha256sum file.txt | cut -c 1-64)
here="/tmp/solverfs-50%41-$$" # a path stands as it is, and a URL escapes it; neither has blanks
outside+=("$here" "/tmp/solverfs-test-$$")
ln -sfn "$PWD" "$here"
elsewhere /downloads/file.txt "download = $here/file.txt $sum"
test_that "a download may be a path, whatever is in it" 'run 0 solver add loads toy --recipe elsewhere.recipe && answers loads unknown && run 0 solver remove loads && run 0 gc && [ ! -e "$SOLVERFS_STORE/downloads/$sum" ]'
elsewhere /downloads/file.txt "download = $(top_url)/file.txt $sum"
test_that "a download is fetched before and read by builds" 'run 0 solver add loads toy --recipe elsewhere.recipe && answers loads unknown && [ -f "$SOLVERFS_STORE/downloads/$sum" ]'
test_that "another file than the recipe says is refused" '
	sed -i "s/$sum/$(echo x | sha256sum | cut -c 1-64)/" elsewhere.recipe && run 1 solver add loads2 toy --recipe elsewhere.recipe && has err "is another file than the recipe says: its sha256 is $sum" &&
	has err "loads2 is added: .solverfs solver update loads2. fetches what is missing" && run 4 build loads2 HEAD && has err "is not in the store"'
test_that "fsck says which one is not there, and that one is damaged" '
	run 0 fsck; has out "note	downloads	file.txt, which the recipe of loads2 names, is not in the store" &&
	chmod u+w "$SOLVERFS_STORE/downloads/$sum" && echo other >"$SOLVERFS_STORE/downloads/$sum" && run 1 fsck -n && has out "damaged	downloads	file.txt, .* loads " &&
	run 1 fsck && has out "repaired	downloads	file.txt" && [ ! -e "$SOLVERFS_STORE/downloads/$sum" ] && run 0 solver update loads && answers loads unknown'
test_that "one that cannot be opened may be sound: it is told and kept" '
	f=$SOLVERFS_STORE/downloads/$sum && mv "$f" moved && ln -s "$PWD/moved" "$f" && run 1 fsck && has out "damaged	downloads	.*, which the recipe of loads names, cannot be read: " && [ -L "$f" ] && mv moved "$f"'
test_that "gc counts what recipes name, and takes what none does" '
	: >"$SOLVERFS_STORE/downloads/.$sum.1" && run 0 gc -n && [ "$(grep ^downloads out | cut -f 2)" = 1 ] && [ "$(grep ^downloads out | cut -f 4)" -gt 0 ] &&
	run 0 gc --keep 0 -q && [ -f "$SOLVERFS_STORE/downloads/$sum" ] && [ ! -e "$SOLVERFS_STORE/downloads/.$sum.1" ] &&
	run 0 solver remove loads && run 0 gc && [ ! -e "$SOLVERFS_STORE/downloads/$sum" ]'

# -- eras, and released binaries --

git init -q -b main epochs
epoch() { git -C epochs add -A && with_git -C epochs commit -qm "$1" && git -C epochs tag "$1"; }
printf '#!/bin/sh\necho sat\n' >epochs/old.sh && epoch v1
git -C epochs checkout -qb side && touch epochs/x && epoch side-1 && git -C epochs checkout -q main
mkdir epochs/src && git -C epochs mv old.sh src/new.sh && printf '#!/bin/sh\necho unknown\n' >epochs/src/new.sh && epoch v2
printf '#!/bin/sh\n\necho sat\n' >epochs/src/new.sh && epoch v3
printf '[solver]\n  paths = old.sh\n  build = cp old.sh made\n  build = chmod +x made\n  output = made\n  run = {bin} {case}\n  samples = 1\n' >plain-epochs.recipe
answer_of() { run 0 run epochs "$1" a.smt2 && [ "$(field 2)" = "$2" ]; }
test_that "without eras the new layout cannot be built" 'run 0 solver add epochs epochs --recipe plain-epochs.recipe && answer_of v1 sat && run 1 build epochs v2'
{ cat plain-epochs.recipe; printf '[era "v2.."]\n  # the sources moved\n  paths = src\n  build = cp src/new.sh made2 && chmod +x made2\n  output = made2\n'; } | sed 's/= \(cp .*\)$/= "\1"/' >epochs.recipe
test_that "an era has keys of its own, and other commits stay built" '
	run 0 run epochs v1 a.smt2 --print run.json && cp out before && run 0 solver add --replace epochs --recipe epochs.recipe &&
	run 0 run epochs v1 a.smt2 --print run.json && cmp out before && answer_of v2 unknown && answer_of v3 sat'
test_that "a branch that left before it has the old keys" 'answer_of side-1 sat && run 0 build epochs v1..v3 && [ "$(field 2 | sort -u)" = ok ]'
in_mount "the mount shows the files of each era" '[ "$(ls "$mnt/epochs/commits/v1/bin")" = made ] && [ "$(ls "$mnt/epochs/commits/v3/bin")" = made2 ] && "$mnt/epochs/commits/v3/bin/made2" | grep -qx sat && grep -q "^\[era .v2\.\..\]" "$mnt/epochs/config"'
test_that "an era that ends: later commits have the solver own keys" '
	sed -i "s/v2\.\./v2..v2/" epochs.recipe && run 0 solver add --replace epochs --recipe epochs.recipe && answer_of v2 unknown && run 1 build epochs v3 && has err "none of the recipe.s .paths."'
test_that "an era of a revision that is not there builds nothing" '
	sed -i "s/v2\.\.v2/v9../" epochs.recipe && run 0 solver add --replace epochs --recipe epochs.recipe && has err "era .v9\.\..\] of the recipe of epochs: .*no revision .v9." &&
	run 4 build epochs v1 && has err "era .v9\.\..\] of the recipe of epochs: .*no revision .v9."'

mkdir release && printf '#!/bin/sh\necho unknown\n' >release/prog && chmod +x release/prog && (cd release && python3 -c 'import zipfile; z = zipfile.ZipFile("../epochs-1.zip", "w"); z.write("prog", "e-1/bin/prog"); z.writestr("e-1/README", "x")') && tar czf epochs-1.tar.gz release
# Names outside ASCII; of a zip libarchive gives none of them.
mkdir -p named/é && cp release/prog named/prog && cp release/prog named/é/prog && tar cf named.tar --format=pax named/é named/prog && (cd named && python3 -c 'import zipfile; z = zipfile.ZipFile("../named.zip", "w"); z.write("é/prog"); z.write("prog")')
ln release/prog release/link && tar cf linked.tar release/prog release/link && rm release/link
sum_of() { sha256sum "$1" | cut -c 1-64; }
# released FILE OUTPUT: the recipe with a binary for v1; paths have no blanks
ln -sfn "$top" "/tmp/solverfs-test-$$"
released() {
	{ cat plain-epochs.recipe; printf '[binary "v1"]\n  file = %s\n  sha256 = %s\n' "/tmp/solverfs-test-$$/$1" "$(sum_of "$1")"; [ -z "$2" ] || printf '  output = %s\n' "$2"; } >epochs.recipe
	run 0 solver add --replace epochs --recipe epochs.recipe
}
test_that "a released program in place of a build" 'released release/prog "" && answer_of v1 unknown && answer_of side-1 sat && run 0 build epochs v1 && [ "$(field 5)" = "released binary" ] && run 0 build epochs v1 --json && has out "$(sum_of release/prog)" && has out "released_binary"'
printf '#!/bin/sh\n[ "$1" = --released ] && echo sat\n' >release/other && chmod +x release/other
test_that "solver try runs it by its own command line" '
	released release/other "" && printf "  run = {bin} --released {case}\n" >>epochs.recipe && run 0 solver add --replace epochs --recipe epochs.recipe && run 1 solver try epochs v1 && has out "a formula that is unsat: it says sat"'
test_that "... and under a seed, where it alone has one" '
	released release/other "" && printf "  run = {bin} --released {seed} {case}\n  seed = --seed={n}\n" >>epochs.recipe && run 0 solver add --replace epochs --recipe epochs.recipe &&
	run 0 run epochs v1 a.smt2 --seed 3 && [ "$(field 2)" = sat ] && run 2 run epochs v2 a.smt2 --seed 3 && run 0 export -f csv epochs --seed 3 && [ "$(wc -l <out)" = 2 ]'
for file in epochs-1.zip:e-1/bin/prog epochs-1.tar.gz:release/prog named.tar:named/prog named.tar:named/é/prog named.zip:prog linked.tar:release/link; do
	test_that "and out of an archive: $file" 'released ${file%%:*} ${file#*:} && answer_of v1 unknown && run 0 build epochs v1 --json && has out "$(sum_of release/prog)" && [ -f "$SOLVERFS_STORE/downloads/$(sum_of ${file%%:*})" ]'
done
test_that "a file that the archive has not" 'released epochs-1.zip bin/prog && run 1 build epochs v1 && has err "the released binary epochs-1.zip has no bin/prog; files in it: e-1/bin/prog, e-1/README"'
test_that "a file that is no archive" 'released release/prog prog && run 1 build epochs v1 && has err "released binary prog (cannot be unpacked|has no prog)"'
test_that "a program for another processor; it is no failed build, which every machine would be told" '
	cp /bin/true release/foreign && printf "\26\0" | dd of=release/foreign bs=1 seek=18 conv=notrunc status=none && released release/foreign "" && run 4 build epochs v1 && has err "released binary foreign is for another processor"'
test_that "another file than the recipe says is refused" 'released release/prog "" && sed -i "s/sha256 = .*/sha256 = $(sum_of plain-epochs.recipe)/" epochs.recipe && run 1 solver add --replace epochs --recipe epochs.recipe && has err "release/prog is another file than the recipe says: its sha256 is $(sum_of release/prog)" && run 4 build epochs v1 && has err "is not in the store: .solverfs solver update. gets it" && answer_of side-1 sat'
test_that "the mount goes on, and fsck names what is not there" 'serves; r=$?; run 1 fsck; has out "note	downloads	prog, which the recipe of epochs names" && ! has out "damaged	[^r]" && (exit $r)'

echo "1..$n"
