#!/bin/bash
# An installation in a folder that it was not configured for, and what the Debian package says of itself. Prints TAP. Usage: test_install.sh SOLVERFS
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

unset SOLVERFS_EXEC SOLVERFS_SHIM SOLVERFS_FETCH
meson install -C "$(dirname "$solverfs")/.." --no-rebuild --destdir "$top/root" >out 2>err
ok $? "it installs into a folder"
solverfs=$(find root -path '*/bin/solverfs' -type f -exec readlink -f {} +)
prefix=${solverfs%/bin/solverfs}
test_that "the command, its helpers and those of mount are there" '
	run 0 version && [ "$(cd "$prefix"/libexec && echo *)" = "solverfs-exec solverfs-fetch solverfs-sample solverfs-shim solverfs-trail.a" ] && [ -x "$prefix/sbin/mount.solverfs" ] &&
	[ "$(readlink "$prefix/sbin/mount.fuse.solverfs")" = mount.solverfs ]'
for page in "$prefix"/share/man/man1/*.1; do basename "$page" .1; done | sort >pages
"$solverfs" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/solverfs-\1/p' | sort -u | grep -v solverfs-recipe >commands # its page is in section 5
test_that "every command has a page of the manual" '
	[ "$(wc -l <commands)" -gt 25 ] && comm -23 commands pages >out && empty out && [ -s "$prefix/share/man/man5/solverfs-recipe.5" ] && [ -s "$prefix/share/man/man8/mount.solverfs.8" ]'
test_that "so are completions, recipes and the unit of a watch" '
	cmp -s "$prefix/share/bash-completion/completions/solverfs" "$source_dir/tools/completions/solverfs.bash" && [ -s "$prefix/share/zsh/site-functions/_solverfs" ] &&
	diff -r -x .gitignore "$prefix/share/solverfs/recipes" "$source_dir/examples/recipes" && [ -s "$prefix/lib/systemd/user/solverfs-watch@.service" ]'

make_toy
python3 -c '
import socket, subprocess
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    subprocess.run(["git", "daemon", "--inetd", "--export-all", "--base-path=."], stdin=c, stdout=c)
    c.close()
' >port 2>server &
server=$!
clean_up() { kill $server; }
until [ -s port ]; do sleep 0.05; done
printf '; answer: unsat\n(check-sat)\n' >a.smt2
test_that "a solver is added from another machine, by the helper that was installed" '
	run 0 init && run 0 solver add toy "git://127.0.0.1:$(cat port)/toy" --recipe recipes/toy.recipe && run 0 solver list && [ "$(field 1,2 | head -1)" = "toy	3" ]'
test_that "a version is built and run by the others" 'run 0 case add a.smt2 && run 0 run toy v1 1 --print result && is out unsat'
git -C toy commit -q --allow-empty -m "fourth"
test_that "an update brings what is new there" 'run 0 solver update && [ "$(field 1,2,3)" = "toy	1	4" ]'

libraries() { tr ' ,\t' '\n' | grep -E '^(lib.*|zlib1g)-dev$' | grep -v '^libz3-dev$' | sort -u; } # Z3 is there for tests
sed -n '/^packages=/,/^"/p' "$source_dir/tools/packages.sh" | libraries >checkout
sed -n '/^Build-Depends:/,/^Standards/p' "$source_dir/debian/control" | libraries >package
test_that "the package is built with the libraries that a checkout is" '[ "$(wc -l <checkout)" -gt 5 ] && diff checkout package >out'
# Recipes are installed by themselves, and the history of strand is that of this repository.
test_that "the package has all other examples" '
	(cd "$source_dir" && ls -d examples/*) | grep -v -x -e examples/recipes -e examples/strand | diff - <(sort "$source_dir/debian/solverfs.examples") >out'
test_that "and each of the documents that its list names" '(cd "$source_dir" && xargs -a debian/solverfs.docs ls -d) >out 2>err && [ ! -s err ]'
# For who reads only a recipe of the howto: a loop is one reader, and a bisection by hand has a better one beside it.
test_that "the howto says what asks for many cells at once, and names localize beside the bisection" '
	grep -A1 "A shell loop asks for one value" "$source_dir/docs/howto.md" >out && has out "solverfs run.*make -j.*xargs -P" && sed -n "/git bisect run/,/^## /p" "$source_dir/docs/howto.md" >out && has out "solverfs localize"'
echo "1..$n"
