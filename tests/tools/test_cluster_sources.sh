#!/bin/bash
# The sources of a build elsewhere are those of a build here, whatever a git tree can hold: the program is a list of what it was built from. Prints TAP.
# Usage: test_cluster_sources.sh SOLVERFS
. "$(dirname "$0")/command.sh"

with_git() { git -c user.name=Toy -c user.email=toy@example.org -c protocol.file.allow=always "$@"; }
# What find and the shell see of every file, folder and link: name, kind, mode, size, target, content; and that all files are as old as each other.
cat >build.sh <<'END'
{
	echo '#!/bin/sh'
	echo 'echo sat'
	echo 'exit'
	find . -path ./made -prune -o -printf '%p\0%y\0%m\0%l\0\n' | LC_ALL=C sort -z
	find . -type f ! -name made -printf '%s %p\0' | LC_ALL=C sort -z
	find . -type f ! -name made -print0 | LC_ALL=C sort -z | xargs -0 sha256sum -b
	find . ! -type d ! -name made -printf '%T@\n' | sort -u | wc -l
} >made
chmod +x made
END
new_repository() { make_repository "$1" && git -C "$1" config core.safecrlf false; }
commit() { git -C "$1" add -A && git -C "$1" commit -q -m "$2"; }

new_repository inner && echo inner >inner/file && ln -s file inner/link && commit inner one
new_repository sub && echo sub >sub/file && with_git -C sub submodule --quiet add ../inner deep/inner >sub.out 2>&1 && commit sub one
new_repository unnamed && echo nobody >unnamed/file && commit unnamed one
new_repository toy && cp build.sh toy/
commit toy "plain" && git -C toy tag plain

# -- every kind of entry, and every kind of name --

cd toy || exit 1
mkdir -p 'a b/c' links names
echo script >run.sh && chmod +x run.sh
cp run.sh same-bytes && chmod -x same-bytes
: >empty
printf 'a\0b' >zero
head -c 5000000 /dev/urandom >large
for name in $'new\nline' $'a\ttab' ' space ' '-n' "it's" 'a"b' 'back\slash' '$HOME' $'\xff\xfe' 'ü' '*' '#x' "$(printf 'n%.0s' {1..255})"; do echo "$name" >"names/$name"; done
mkdir $'names/folder\nof lines' && echo x >$'names/folder\nof lines/x'
ln -s ../run.sh links/up
ln -s 'a b' links/../folder
ln -s /nonexistent/x links/absolute
ln -s nowhere links/dangling
ln -s . links/self
ln -s "$(printf 'd%.0s/' {1..1500})" links/long
ln -s $'a\nb' $'links/l\nm'
printf '*.crlf eol=crlf\n*.id ident\n' >.gitattributes
printf 'one\ntwo\n' >text.crlf
echo '$Id$' >text.id
cd ..
commit toy "everything"
# An empty folder, which git alone can make; it writes none.
tree=$( (git -C toy ls-tree HEAD && printf '040000 tree %s\tbare\n' "$(git -C toy mktree </dev/null)") | git -C toy mktree)
git -C toy update-ref HEAD "$(git -C toy commit-tree -p HEAD -m "an empty folder" "$tree")" && git -C toy reset -q --hard && git -C toy tag everything

# -- submodules: filled, one inside of another, without a line, at a commit that nobody has --

for name in sub unnamed; do with_git -C toy submodule --quiet add "../$name" "deps/$name" >sub.out 2>&1; done
ln -s deps/unnamed toy/to-empty && ln -s deps/sub/file toy/to-full
commit toy "submodules" && git -C toy tag submodules
git -C toy rm -qf deps/sub && commit toy "only an empty one" && git -C toy tag unfilled
git -C toy update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,deps/sub
git -C toy commit -q -m "a commit that nobody has" && git -C toy tag lost

# -- attributes that no checkout can follow --

git -C toy update-index --force-remove deps/sub
printf '*.wide working-tree-encoding=UTF-16LE\n' >toy/.gitattributes && echo x >toy/a.wide && commit toy "an encoding" && git -C toy tag encoded
printf '*.wide filter=driver\n' >toy/.gitattributes && commit toy "a filter" && git -C toy tag filtered

toy_recipe toy 'output = made' 'run = {bin} {case}' "submodule = deps/sub=$top/sub" "submodule = deps/sub/deep/inner=$top/inner"
sed '/^\tbuild = /i\	paths = names\n\tpaths = deps\n\tpaths = build.sh\n\tpaths = .gitattributes\n\tpaths = text.crlf' toy.recipe >some.recipe
run 0 init
run 0 solver add toy toy --recipe toy.recipe
run 0 solver add some toy --recipe some.recipe
cat >>store/config <<END
[cluster "lab"]
	launch = "echo \$\$ >>\"\$top/launched\"; exec {worker} --slots 1 --folder \"\$top/node\""
END
build_at() { sed -i "/^\tbuilds = /d; s/^\tversion = 1/&\n\tbuilds = $1/" store/config; }
: >launched
n_launched() { wc -l <launched; }

# Built there, then here: the same bytes.
same_as_here() { # same_as_here SOLVER REV
	local before
	build_at lab
	before=$(n_launched)
	run 0 build "$@" --output there.made && [ "$(n_launched)" -gt "$before" ] || return
	build_at local
	before=$(n_launched)
	run 0 build "$@" --output here.made && cmp here.made there.made && [ "$(n_launched)" = "$before" ]
}
lists() { grep -qaF -- "$1" there.made; }

test_that "a plain tree" 'same_as_here toy plain && lists "./build.sh"'
test_that "every kind of entry and of name" 'same_as_here toy everything && lists "./run.sh" && lists "/nonexistent/x" && lists "of lines" && ! lists "./bare"'
test_that "... all files as old as each other" '[ "$(tail -1 there.made)" = 1 ]'
test_that "submodules: a filled one, one inside of it, and an empty folder" '
	same_as_here toy submodules && lists "./deps/sub/file" && lists "./deps/sub/deep/inner/link" && lists "./deps/unnamed" && ! lists "./deps/unnamed/"'
build_at lab
test_that "... of which the log speaks" 'run 0 build toy submodules --log && has out "^\(submodule deps/unnamed is an empty folder: the recipe has no key"'
test_that "an empty folder alone" 'same_as_here toy unfilled && lists "./deps/unnamed" && ! lists "./deps/sub"'
test_that "only some of the folders" 'same_as_here some submodules && lists "./deps/sub/deep/inner/link" && ! lists "./run.sh"'
build_at lab
# The same exit status and last words there and here.
same_refusal() { # same_refusal STATUS REV SENTENCE
	build_at lab
	run "$1" build toy "$2" && has err "$3" && tail -1 err >first || return
	build_at local
	run "$1" build toy "$2" && tail -1 err | cmp - first && run "$1" build toy "$2" --again && tail -1 err | cmp - first
}
test_that "a submodule whose commit is not there is an error with a sentence, there as here" '
	same_refusal 4 lost "submodule deps/sub is at commit 1234567890.*, which no branch or tag of .*/sub had when it was fetched; fetch it again"'
test_that "so is an encoding that is not supported" 'same_refusal 1 encoded "the sources want a.wide in the encoding UTF-16LE"'
test_that "a filter that is a command of the head is refused" '
	git config -f home/.gitconfig filter.driver.smudge cat && export GIT_CONFIG_GLOBAL=$HOME/.gitconfig && same_refusal 4 filtered "cannot check out a.wide: its attributes ask for filter=driver"'
build_at lab
files() { find node/programs -type f | LC_ALL=C sort; }
files >before
test_that "a worker that has the sources is sent none again" 'run 0 build toy everything --again && files >after && cmp before after'
echo "1..$n"
