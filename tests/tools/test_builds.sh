#!/bin/bash
# A program is its commit's: whole builds through the command, with real compilers. Each row of what was once built wrongly, plain recipes that
# a newcomer would write. Prints TAP. Usage: test_builds.sh SOLVERFS
. "$(dirname "$0")/command.sh"

run 0 init
commit() { git -C "$1" add -A && git -C "$1" commit -q --allow-empty -m "$2" && git -C "$1" tag "$2"; }
# build_all SOLVER REV...: in this order; `programs` gets "REV OUTPUT" of each as it ran, in the same.
program_of() { run 0 build -q --output prog.out "$1" "$2" && ./prog.out; }
# gives SOLVER REV TEXT
gives() { local got; got=$(program_of "$1" "$2") && [ "$got" = "$3" ] || { echo "# $1 $2 gives '$got', not '$3'"; return 1; }; }
add() { # add NAME REPOSITORY: the recipe on standard input
	{ printf '[solver]\nformat = cnf\nrun = {bin} {case}\n'; cat; } >recipe
	run 0 solver add "$1" "$2" --recipe ./recipe
}

# -- a Makefile that knows of no header, an archive, a wildcard --

make_repository plain
cd plain || exit 1
cat >Makefile <<'END'
OBJECTS = $(patsubst %.c,%.o,$(wildcard lib/*.c))
prog: main.o lib.a
	cc -o prog main.o lib.a
lib.a: $(OBJECTS)
	ar rc $@ $^
%.o: %.c
	cc -Ii1 -Ii2 -c -o $@ $<
tracked.h: tracked.in
	cp tracked.in tracked.h
main.o: tracked.h
END
mkdir i1 i2 lib d1 d2
echo '#define V 1' >i2/v.h; echo >i1/keep; echo '#define A 1' >a.h; echo '#define A 2' >b.h; ln -s a.h link.h
echo '#define D 1' >d1/d.h; echo '#define D 2' >d2/d.h; ln -s d1 d; echo '#define T 1' >tracked.in; cp tracked.in tracked.h
echo 'int part(void) { return 1; }' >lib/one.c
cat >main.c <<'END'
#include <stdio.h>
#include "link.h"
#include "d/d.h"
#include "tracked.h"
#include <v.h>
#if __has_include("left.h")
#define LEFT 1
#else
#define LEFT 0
#endif
int part(void);
int main(void) { printf("V%d A%d D%d T%d L%d P%d\n", V, A, D, T, LEFT, part()); return 0; }
END
cd ..
commit plain base
echo '#define V 2' >plain/i2/v.h; commit plain header
echo '#define V 3' >plain/i1/v.h; commit plain shadow
rm plain/i1/v.h; commit plain unshadow
ln -sf b.h plain/link.h; commit plain link
ln -sfn d2 plain/d; commit plain folder
echo 'int part(void) { return 2; }' >plain/lib/two.c; rm plain/lib/one.c; commit plain renamed
echo '#define T 2' >plain/tracked.in; cp plain/tracked.in plain/tracked.h; commit plain generated
: >plain/left.h; commit plain appears
rm plain/left.h; commit plain gone
sed -i 's/^prog: .*/&\n\ttouch left.h; touch -r a.h stamp; sed -i s,A.1,A\\ 7, a.h; touch -r stamp a.h/' plain/Makefile; commit plain leaves
sed -i '/left.h/d' plain/Makefile; commit plain leaves-not
printf 'build = make prog\noutput = prog\n' | add plain plain

test_that "a header that the Makefile does not know of" 'gives plain base "V1 A1 D1 T1 L0 P1" && gives plain header "V2 A1 D1 T1 L0 P1" && gives plain base "V1 A1 D1 T1 L0 P1"'
test_that "a header that appears before another" 'gives plain shadow "V3 A1 D1 T1 L0 P1"'
test_that "and goes" 'gives plain unshadow "V2 A1 D1 T1 L0 P1"'
test_that "a link to another file" 'gives plain link "V2 A2 D1 T1 L0 P1"'
test_that "a link to another folder" 'gives plain folder "V2 A2 D2 T1 L0 P1"'
test_that "an archive whose member is gone" 'gives plain renamed "V2 A2 D2 T1 L0 P2"'
test_that "a tracked file that a rule makes" 'gives plain generated "V2 A2 D2 T2 L0 P2"'
test_that "a header that is asked for, and appears" 'gives plain appears "V2 A2 D2 T2 L1 P2" && gives plain gone "V2 A2 D2 T2 L0 P2"'
test_that "what a build leaves, or changes behind the back of make, is not the next one's" 'run 0 build plain leaves && gives plain leaves-not "V2 A2 D2 T2 L0 P2"'
test_that "build --again is the same program" '
	for r in shadow base appears link header gone; do run 0 build --json plain $r && cp out before && run 0 build --again --json plain $r || exit 1
	[ "$(grep -o "sha256\":\"[0-9a-f]*" before)" = "$(grep -o "sha256\":\"[0-9a-f]*" out)" ] || exit 1; done'
test_that "every build says that it was clean" 'run 0 build plain base shadow && [ "$(field 5 | sort -u)" = clean ]'

# -- whatever is left in a folder of its own, found by name: as with OpenSMT's plain recipe --

make_repository find
mkdir find/old
printf 'all:\n\tmkdir -p build/old; cp old/prog.sh build/old/prog\n' >find/Makefile; printf '#!/bin/sh\necho old\n' >find/old/prog.sh; commit find old
git -C find mv old new; sed -i s/old/new/g find/Makefile find/new/prog.sh; commit find new
printf 'build = make\nbuild = \"cp $(find build -name prog | head -1) prog && chmod +x prog\"\noutput = prog\n' | add find find
test_that "a program that is found and copied" 'gives find old old && gives find new new && gives find old old'

# -- .gitattributes, executable bits --

make_repository attributes
printf '#!/bin/sh\nprintf "%%s " "$(od -An -c eol.txt | tr -d "\\n")" "$(cat id.txt)" "$(cat f.txt)" "$([ -x x ] && echo x)"\n' >attributes/show
printf 'a\n' >attributes/eol.txt; printf '$Id$\n' >attributes/id.txt; echo x >attributes/x; echo f >attributes/f.txt; mkdir attributes/sub; echo s >attributes/sub/s
cat >attributes/wrap <<'END'
{ echo '#!/bin/sh'; echo "cat <<'EOF'"; sh ./show; echo; echo EOF; } >prog
chmod +x prog
END
commit attributes none
printf 'eol.txt text eol=crlf\n' >attributes/.gitattributes; commit attributes eol
printf 'id.txt ident\n' >attributes/.gitattributes; chmod +x attributes/x; commit attributes ident
printf 'f.txt filter=upper\n' >attributes/.gitattributes; commit attributes filter
printf 'f.txt working-tree-encoding=UTF-16LE\n' >attributes/.gitattributes; commit attributes encoding
printf 'paths = show\npaths = wrap\npaths = eol.txt\npaths = id.txt\npaths = x\npaths = f.txt\nbuild = sh ./wrap\noutput = prog\n' | add attributes attributes
in_git() { rm -rf tree; git -C attributes worktree add -q --detach -f ../tree "$1" && (cd tree && sh ./show; echo); }
test_that "line ends, identities and executable bits are git's, though .gitattributes is in no path" '
	for r in none eol ident; do want=$(in_git $r); gives attributes $r "$want" || exit 1; done; [ "$(in_git eol)" != "$(in_git none)" ]'
test_that "a filter that nobody has configured changes nothing" 'gives attributes filter "$(in_git filter)"'
test_that "an encoding that is not supported is refused" 'run 1 build attributes encoding && has err "working-tree-encoding"'
printf '[filter "upper"]\n\tsmudge = tr a-z A-Z\n' >"$HOME/.gitconfig"
test_that "a filter that git here would run is refused, and nothing is kept of that" '
	echo other >attributes/f.txt && echo "f.txt filter=upper" >attributes/.gitattributes && commit attributes refused && run 0 solver update attributes &&
	GIT_CONFIG_GLOBAL= run 4 build attributes refused && has err "filter=upper.*paths" && rm "$HOME/.gitconfig" && run 0 build attributes refused'

# -- a program with the time of its build in it, and one that never is the same --

make_repository time
printf '#!/bin/sh\n{ echo "#!/bin/sh"; echo "echo $(date) $(uname -n)"; } >prog\nchmod +x prog\n' >time/configure; chmod +x time/configure; commit time date
printf 'head -c 8 /dev/urandom | od -An -tx1 | sed "s/^/# /" >>prog\n' >>time/configure; commit time random
printf 'build = ./configure\noutput = prog\n' | add time time
test_that "the clock of a build stands still" 'gives time date "Tue Jan 1 00:00:00 UTC 1980 solverfs" && run 0 build --again time date && ! has out reproducible'
test_that "a build that is not reproducible is said to be none, and where" '
	run 0 build time random && run 0 build --again time random && has out "not reproducible" && has err "output prog differs in [0-9]+ of [0-9]+ bytes, first at 0x"'
test_that "its programs are one, by all their digests" 'run 0 build --json time random && python3 -c "
import json; r = json.load(open(\"out\")); assert len(r[\"programs\"]) == 2, r"'

# -- stores of older versions --

test_that "a config with keys that mean nothing any more opens" '
	run 0 solver list && cp "$SOLVERFS_STORE/config" config && sed -i "0,/build = make prog/s//build = make prog\n\tclean = Makefile\n\tincremental = true/" "$SOLVERFS_STORE/config" &&
	run 0 solver list && has out plain && gives plain base "V1 A1 D1 T1 L0 P1"; r=$?; cp config "$SOLVERFS_STORE/config"; (exit $r)'
test_that "in a recipe they are passed over, with a word" 'printf "clean = Makefile\nbuild = make prog\noutput = prog\n" | add again plain && has err "clean. means nothing any more"'

echo "1..$n"
