#!/bin/bash
# Recipes that `recipe draft` writes for small repositories, built and run for real. Prints TAP. Usage: test_draft.sh SOLVERFS
. "$(dirname "$0")/command.sh"
mkdir tmp && export TMPDIR=$top/tmp
no_trace() { [ -z "$(ls -d "$top"/tmp/* 2>/dev/null)" ]; }

# A solver for the smallest formulas, which takes a seed, and counts when it is asked to.
write_toy() { # write_toy FILE
	cat >"$1" <<'END'
#include <stdio.h>
#include <string.h>
static char text[1 << 20];
const char *answer(const char *formula);
int main(int argc, char **argv)
{
        const char *file = 0;
        int count = 0;
        for (int i = 1; i < argc; i++)
                if (!strcmp(argv[i], "--help"))
                        return puts("usage: toy [OPTION...] FILE\n  --seed=N      seed of the random numbers\n  --statistics  count"), 0;
                else if (!strncmp(argv[i], "--seed=", 7) || !strcmp(argv[i], "--statistics"))
                        count |= argv[i][3] == 't';
                else if (argv[i][0] == '-')
                        return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
                else
                        file = argv[i];
        FILE *f = file ? fopen(file, "r") : 0;
        if (!f)
                return 3;
        text[fread(text, 1, sizeof(text) - 1, f)] = 0;
        puts(answer(text));
        if (count)
                puts(" :conflicts    17\n :time  0.1");
        return 0;
}
END
}
write_answer() { # write_answer FILE
	cat >"$1" <<'END'
#include <string.h>
const char *answer(const char *formula)
{
        return !strstr(formula, "check-sat") ? "parse error" : strstr(formula, "(not p") ? "unsat" : "sat";
}
END
}
# project NAME: a repository with the solver's sources
project() { make_repository "$1" && write_toy "$1/main.c" && write_answer "$1/answer.c"; }
commit() { day_commit "$1" "${2:-1}" "commit ${2:-1}" && git -C "$1" tag "v${2:-1}"; }
# draft STATUS REPOSITORY [ARGUMENT...]: what it writes is drafted.recipe
draft() { run "$1" recipe draft "${@:2}" && cp out drafted.recipe && no_trace; }
# The recipe does in a store of its own what it says. For each kind of line once, and for older commits: HEAD the draft has just built and run by itself.
works() { run 0 solver try --once --recipe drafted.recipe "$1" ${2:+"$2"} && has out "^answer	ok"; }
line() { grep -qxF "    $1" drafted.recipe; } # line TEXT
# cmake_lists NAME [LINE...]: the beginning of a CMakeLists.txt, for a compiler that CMake does not try first, by few further processes: these take most of a build.
cmake_lists() {
	printf '%s\n' 'cmake_minimum_required(VERSION 3.14)' 'set(CMAKE_C_COMPILER_FORCED TRUE)' 'set(CMAKE_C_COMPILER_ID_RUN TRUE)' 'set(CMAKE_C_COMPILER_ID GNU)' \
		'set(CMAKE_C_COMPILER_VERSION 12)' 'project(toy C)' 'set_property(GLOBAL PROPERTY RULE_MESSAGES OFF)' 'set(CMAKE_SUPPRESS_REGENERATION TRUE)' "${@:2}" >"$1/CMakeLists.txt"
}

# -- answers as they come --

# Answers each check-sat after some time; prints by stdio, which keeps it back when it goes into a pipe.
project silent && cat >silent/main.c <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char text[1 << 20];
int main(int argc, char **argv)
{
        FILE *f = argc == 2 ? fopen(argv[1], "r") : 0;
        if (!f)
                return 3;
        text[fread(text, 1, sizeof(text) - 1, f)] = 0;
        for (char *p = text, *q; (q = strstr(p, "(check-sat)")); p = q + 1) {
                *q = 0;
                usleep(100000);
                puts(strstr(text, "(not p") || (p > text && strstr(p, "(not p")) ? "unsat" : "sat");
                if (FLUSH)
                        fflush(stdout);
        }
        return 0;
}
END
printf 'solver: main.c\n\t$(CC) -DFLUSH=0 -o $@ main.c\n' >silent/Makefile && commit silent
test_that "a solver that keeps its answers back is run behind stdbuf" \
	'draft 0 silent && line "run = stdbuf -oL {bin} {case}" && grep -q "keeps its answers back" drafted.recipe && works silent'
sed -i s/FLUSH=0/FLUSH=1/ silent/Makefile && commit silent 2
test_that "one that prints them at once is not" 'draft 0 silent && line "run = {bin} {case}" && ! grep -q stdbuf drafted.recipe'

# -- build systems --

project make
printf 'solver: main.c answer.c\n\t$(CC) -o $@ main.c answer.c\n' >make/Makefile && commit make
test_that "make" 'draft 0 make && line "build = make -j{jobs}" && line "output = solver" && line "run = {bin} {seed} --statistics {case}" && line "seed = --seed={n}" && line "format = smt2" && works make'
test_that "a counter that is the same in two runs" 'line "effort = conflicts +([0-9]+)" && has out "^effort	ok"'
project including && mkdir including/code including/mk && mv including/*.c including/code && printf 'solver: main.c answer.c\n\t$(CC) -o $@ main.c answer.c\n' >including/mk/rules.mk
printf 'NAME = solver\n-include $(NAME)/nothing.mk\ninclude $(TOP)/mk/rules.mk\n' >including/code/Makefile && commit including
test_that "a Makefile one folder down, and a variable that it includes by, and does not set; --output" '
	run 0 recipe draft -o drafted.recipe including && empty out && no_trace && head -n 1 drafted.recipe | grep -q "^# including: a draft" && line "build = cd code && make -j{jobs} TOP=.." && line "output = code/solver"'

project hand
printf '#!/bin/sh\nmkdir -p made && sed s,@CC@,${CC-cc}, in.mk >makefile\n' >hand/configure && chmod +x hand/configure
printf 'made/hand: main.c answer.c\n\t@CC@ -o $@ main.c answer.c\n' >hand/in.mk && echo x >hand/"$(printf 'a\366')" && commit hand
test_that "a configure by hand, beside a file whose name is not UTF-8" 'draft 0 hand && line "build = ./configure" && line "output = made/hand" && works hand'

project wrapper
printf '#!/bin/sh\nmkdir build && cp in.mk build/Makefile\n' >wrapper/configure.sh && chmod +x wrapper/configure.sh
printf 'solver: ../main.c ../answer.c\n\tcc -o $@ ../main.c ../answer.c\n' >wrapper/in.mk && commit wrapper
test_that "a configure that makes a Makefile in a folder" 'draft 0 wrapper && line "build = ./configure.sh" && line "build = make -C build -j{jobs}" && line "output = build/solver"'

if command -v cmake >/dev/null; then
	project cmake
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(cmake C)\nadd_library(answer answer.c)\nadd_executable(toy main.c)\ntarget_link_libraries(toy answer)\n' >cmake/CMakeLists.txt
	commit cmake
	cmake_lists cmake 'add_library(answer SHARED answer.c)' 'add_executable(toy main.c)' 'target_link_libraries(toy answer)' && commit cmake 2
	test_that "CMake, of an older commit" 'draft 0 cmake v1 && line "output = build/toy" && has out "CMAKE_BUILD_TYPE=Release" && ! has out shared-libraries'
	test_that "a shared library of the build" 'draft 0 cmake && line "output = shared-libraries/libanswer.so" && line "environment = LD_LIBRARY_PATH=/solver" && works cmake'
	# switches NAME LINE...: its sources declare some, and want what LINE says
	switches() {
		project "$1" && cmake_lists "$1" 'include(more.cmake)' 'add_executable(toy main.c answer.c)' "${@:2}"
		printf 'Option(WITH_TESTS "the (long) tests" ON)\noption (BUILD_EXAMPLES "" TRUE)\noption(WITH_LATEST "newest" ON)\noption(WITH_DOCS "documents" OFF)\n' >"$1/more.cmake" && commit "$1"
	}
	switches left-out 'if(WITH_TESTS OR BUILD_EXAMPLES OR NEED_FAST)' '  message(FATAL_ERROR no)' 'endif()'
	test_that "switches that the sources declare leave out tests and examples, and no more" 'draft 0 left-out && has out "-DWITH_TESTS=OFF -DBUILD_EXAMPLES=OFF$"'
	switches needed 'if(NOT WITH_TESTS)' '  message(FATAL_ERROR "the tests are needed")' 'endif()' \
		'if(CMAKE_BUILD_TYPE STREQUAL "Release")' "  message(FATAL_ERROR \"'Release' is not a valid build type.\")" 'endif()'
	test_that "... and stay in where it cannot be built without; build types of its own" '
		draft 0 needed && ! has out WITH_TESTS && has out "# It is not built without its tests" && ! has out CMAKE_BUILD_TYPE && has out "# Its CMake has build types of its own"'
	project linked && cmake_lists linked 'add_library(answer answer.c)' 'add_executable(toy main.c)' 'target_link_libraries(toy answer)' \
		'if(NOT BUILD_SHARED_LIBS)' '  target_link_options(toy PRIVATE -static "${CMAKE_SOURCE_DIR}/librules.so")' 'endif()'
	echo 'int rules;' >rules.c && cc -shared -fPIC -o linked/librules.so rules.c && commit linked
	test_that "a program without shared libraries, of which one is there as a shared one only" 'draft 0 linked && has out "-DBUILD_SHARED_LIBS=ON" && has out "# Without shared libraries" && line "output = shared-libraries/libanswer.so" && works linked'
else
	skip "CMake" "no cmake"
fi
if command -v meson >/dev/null && command -v ninja >/dev/null; then
	project meson
	printf "project('toy', 'c')\nexecutable('toy', 'main.c', 'answer.c')\nif get_option('unit-tests') or not get_option('python').disabled()\n  error('no')\nendif\n" >meson/meson.build
	printf "option('unit-tests', type : 'boolean', description : 'the (long) tests')\noption('python', type : 'feature', value : 'enabled')\noption('docs', type : 'boolean', value : false)\n" >meson/meson_options.txt
	commit meson
	test_that "meson, and its switches" 'draft 0 meson && line "output = build/toy" && has out "-Dunit-tests=false -Dpython=disabled$"'
else
	skip "meson" "no meson"
fi
if command -v autoconf >/dev/null; then
	project auto
	printf 'AC_INIT([toy], [1])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' >auto/configure.ac
	printf '@PACKAGE_NAME@: main.c answer.c\n\tcc -o $@ main.c answer.c\n' >auto/Makefile.in && commit auto
	test_that "autoconf" 'draft 0 auto && line "build = autoconf" && line "build = ./configure" && works auto'
else
	skip "autoconf" "no autoconf"
fi

# -- submodules --

make_repository library && write_answer library/answer.c && commit library
with_submodule() { # with_submodule NAME URL
	project "$1" && rm "$1/answer.c" && printf '[submodule "answer"]\n\tpath = answer\n\turl = %s\n' "$2" >"$1/.gitmodules"
	printf 'solver: main.c\n\t$(CC) -o $@ main.c %s\n' "$3" >"$1/Makefile" && git -C "$1" add -A
	git -C "$1" update-index --add --cacheinfo "160000,$(git -C library rev-parse HEAD),answer" && git -C "$1" commit -qm "with a submodule"
}
with_submodule outer ../library answer/answer.c
test_that "a submodule is fetched, and named" 'draft 0 outer && has out "submodule = .*answer=.*library" && works outer'

# The sources name repositories of this machine, which are not theirs.
make_repository private && write_answer private/answer.c && printf 'add_library(answer STATIC answer.c)\n' >private/CMakeLists.txt && commit private
if command -v cmake >/dev/null; then
	make_repository reaching && write_toy reaching/main.c && addresses=("$top/private" "file://$top/private" ../private "ext::git upload-pack $top/private")
	cmake_lists reaching 'include(FetchContent)' && for n_address in 0 1 2 3; do
		printf 'execute_process(COMMAND git clone -q "%s" ${CMAKE_SOURCE_DIR}/reached)\nFetchContent_Declare(answer%d GIT_REPOSITORY "%s" GIT_TAG main)\n' "${addresses[n_address]}" $n_address "${addresses[n_address]}"
	done >>reaching/CMakeLists.txt
	printf '%s\n' 'if(EXISTS ${CMAKE_SOURCE_DIR}/reached)' '  add_executable(toy main.c reached/answer.c)' 'else()' '  FetchContent_MakeAvailable(answer0)' '  add_executable(toy main.c ${answer0_SOURCE_DIR}/answer.c)' 'endif()' >>reaching/CMakeLists.txt
	commit reaching
	test_that "CMake's FetchContent reaches no repository of this machine: a path, file://, beside it, ext::" '
		draft 1 reaching && ! has out "submodule =" && for n_address in 0 1 2 3; do
			grep -qF "FetchContent_Declare(answer$n_address) names ${addresses[n_address]}, which is no address of another machine; " err && has err "submodule = fetched/answer$n_address=" || exit 1
		done'
fi

daemon=$(git --exec-path)/git-daemon
if command -v cmake >/dev/null && [ -x "$daemon" ]; then
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$daemon" --listen=127.0.0.1 --port="$port" --reuseaddr --export-all --base-path="$top" &
server=$!
clean_up() { kill $server; }
there=git://127.0.0.1:$port
until git ls-remote "$there/library" >/dev/null 2>&1; do sleep 0.05; done
with_submodule outside "$top/library" answer/answer.c
test_that ".gitmodules of another machine names none of this one either" '
	draft 1 "$there/outside" && has err "the submodule answer: .gitmodules names $top/library, which is no address of another machine" && run 0 init &&
	printf "[solver]\n build = make\n output = solver\n run = {bin} {case}\n" >outside.recipe && run 1 solver add outside "$there/outside" --recipe outside.recipe --submodules &&
	has err "which is no address of another machine; .*submodule = answer=$top/library" && rm -rf store'
with_submodule beside ../library answer/answer.c
test_that "... but one beside it" 'draft 0 "$there/beside" && line "submodule = answer=$there/library"'
add_there() { run 0 solver add "$1" "$there/$1" --recipe outside.recipe; }
test_that "a solver of the store stands for the address that it was added with" '
	run 0 init && add_there outside && add_there beside && mkdir away && cd away && run 1 recipe draft outside && has err "the submodule answer: .gitmodules names $top/library, which is no address of another machine" &&
	run 0 recipe draft beside -o drafted.recipe && line "submodule = answer=$there/library"'
rm -rf store
# Its CMake clones `answer`, whose own clones `words`; both by what their branches and tags name now.
make_repository words && write_answer words/answer.c && commit words && git -C words tag v1.0 && echo broken >words/answer.c && commit words
make_repository parted && mkdir parted/cmake
cmake_lists parted 'include(FetchContent)' '# FetchContent_Declare(nothing' 'include(cmake/parts.cmake)' 'FetchContent_MakeAvailable(Answer)' 'add_executable(parted main.c)' 'target_link_libraries(parted answer)'
write_toy parted/main.c
printf 'fetchcontent_declare(Answer\n\tGIT_REPOSITORY "%s" # here\n\tGIT_TAG main\n\tGIT_SHALLOW TRUE)\n' "$there/part" >parted/cmake/parts.cmake
make_repository part
printf 'include(FetchContent)\nFetchContent_Declare(words GIT_REPOSITORY "%s" GIT_TAG v1.0)\nFetchContent_MakeAvailable(words)\nadd_library(answer STATIC ${words_SOURCE_DIR}/answer.c)\n' "$there/words" >part/CMakeLists.txt
git -C part branch -qM main && commit part && commit parted
test_that "what CMake clones is fetched, and named by its commit, also what that clones" '
	draft 0 parted && line "submodule = fetched/Answer=$there/part $(git -C part rev-parse main)" && line "submodule = fetched/words=$there/words $(git -C words rev-parse v1.0)" &&
	has err "by CMakeLists.txt with what it clones$" && has out "DFETCHCONTENT_SOURCE_DIR_WORDS=.PWD/fetched/words" && works parted'
make_repository moved && mkdir moved/src && sed -e "/^include(cmake/r parted/cmake/parts.cmake" -e "/^include(cmake/d" -e "/^#/d" parted/CMakeLists.txt >moved/src/CMakeLists.txt && cp parted/main.c moved/src/
sed -i 's/^FetchContent_Make/if(NOT FETCHCONTENT_SOURCE_DIR_ANSWER)\n  message(FATAL_ERROR "no network")\nendif()\n&/' moved/src/CMakeLists.txt # sooner than FetchContent finds that
sed -i "s/GIT_TAG main/GIT_TAG v1/" moved/src/CMakeLists.txt && commit moved 1 && git -C moved mv src/CMakeLists.txt src/main.c . && sed -i "s/GIT_TAG v1/GIT_TAG main/" moved/CMakeLists.txt && commit moved 2
git -C part commit -q --allow-empty -m "commit 2"
test_that "... in each era anew, at the commit that this era names" '
	draft 0 moved --eras && works moved v1 && for of in main v1; do line "submodule = fetched/Answer=$there/part $(git -C part rev-parse $of)" || exit 1; done'
mv words words.away
test_that "... or it is said why not" 'draft 1 parted && has err "cannot fetch what CMake clones as words, so the build is tried without: .*cannot fetch from $there/words"'
mv words.away words
else
	skip "what CMake clones" "no cmake, or no git-daemon"
fi
with_submodule lonely ../nowhere answer/answer.c
test_that "a submodule that cannot be fetched is said, and left out" 'draft 1 lonely --force && has err "a submodule could not be fetched" && ! has out "^ *submodule =" && has out "# Its submodules are not built"'

# -- options --

project secret && sed -i 's/  --seed=N[^"]*\\n//' secret/main.c && cp make/Makefile secret/ && commit secret
test_that "a seed that the help does not have, of a program that refuses what it does not know" '! grep -q "of the random" secret/main.c && draft 0 secret && line "seed = --seed={n}" && has out "# The program.s help does not have it"'
project careless && sed -i 's/  --seed=N[^"]*\\n//;s/return fprintf(stderr.*, 2;/continue;/' careless/main.c
sed -i 's/puts(" :conflicts    17.*/{ struct timespec t; clock_gettime(CLOCK_REALTIME, \&t); printf(":conflicts %ld\\n", (long)t.tv_nsec + 1); }/;s/#include <stdio.h>/&\n#include <time.h>/' careless/main.c
cp make/Makefile careless/ && commit careless
test_that "but not of one that takes every option; a counter that differs between runs is none" '
	draft 0 careless && has out "# No option for a random seed was found" && has out "# No counter was found"'

# -- which program --

project piped && sed -i 's/FILE \*f = .*/if (file) return 4;\n        FILE *f = stdin;/' piped/main.c && cp make/Makefile piped/ && commit piped
test_that "a program that reads standard input" 'draft 0 piped && line "run = {bin} {seed} --statistics <{case}" && works piped'

project both
echo 'int main(void) { return 0; }' >both/a.c
printf 'all: aaa smt sat\naaa: a.c\n\tcc -o $@ a.c\nsmt: main.c answer.c\n\tcc -o $@ main.c answer.c\nsat: main.c cnf.c\n\tcc -o $@ main.c cnf.c\n' >both/Makefile
printf '#include <string.h>\nconst char *answer(const char *f)\n{\n  return !strstr(f, "p cnf") ? "error" : strstr(f, "\\n-") ? "s UNSATISFIABLE" : "s SATISFIABLE";\n}\n' >both/cnf.c
commit both
test_that "of three programs the one that answers; another that does is named" '
	draft 0 both && line "output = smt" && has out "made 3 programs" && has out "# .*sat answers DIMACS, too"'

project dimacs && cp both/cnf.c dimacs/answer.c && cp make/Makefile dimacs/ && commit dimacs
test_that "a solver of DIMACS" 'draft 0 dimacs && line "format = cnf"'

project committed
printf 'all:\n\ttrue\n' >committed/Makefile && cc -o committed/ready committed/main.c committed/answer.c && commit committed
test_that "a program that lies in the repository was not built" 'draft 1 committed && empty out && has err "built, and no program came of it"'

# -- what does not work --

project mute && printf 'const char *answer(const char *f) { return "perhaps"; }\n' >mute/answer.c && cp make/Makefile mute/ && printf 'project(no NONE)\nmessage(FATAL_ERROR no)\n' >mute/CMakeLists.txt && commit mute
test_that "no program that answers; --force writes what is known of the way that came farthest, and the status stays" '
	draft 1 mute --force && has err "no recipe was found for mute" && has err "none of its programs answers .*: solver$" && has err "docs/recipes.md" &&
	line "build = make -j{jobs}" && has out "# output =" && has out "# run ="'
project liar && printf 'const char *answer(const char *f) { return "sat"; }\n' >liar/answer.c && cp make/Makefile liar/ && commit liar
test_that "a program that answers falsely: the answer" 'draft 1 liar && has err "by Makefile it was built, and solver answered sat to a small formula where unsat is right$"'
project broken && printf 'all:\n\techo the reason is here; exit 7\n' >broken/Makefile && commit broken
test_that "a build that fails: the end of its log" 'draft 1 broken && empty out && has err "by Makefile it could not be built: command 1" && has err "^the reason is here"'
make_repository bare-text && echo hello >bare-text/README && commit bare-text
project lacking && printf 'all:\n\tno-such-tool-here main.c\n' >lacking/Makefile && commit lacking
test_that "a build that misses something: install it, and give the command again" 'draft 1 lacking && has err "no-such-tool-here" && has err "^install what is not found" && draft 1 broken && ! has err "^install what"'
test_that "a file that cannot be written is refused before the build" 'run 4 recipe draft broken -o nosuch/recipe && is err "solverfs: cannot write nosuch/recipe: No such file or directory"'
test_that "nothing to build by" 'draft 1 bare-text && has err "has a CMakeLists.txt, configure"'
test_that "the next way, where the first fails" 'project next && cp mute/CMakeLists.txt next/ && cp make/Makefile next/ && commit next && draft 0 next && line "build = make -j{jobs}"'
test_that "no such folder, revision, or words" 'draft 3 nowhere && draft 3 ./nowhere && draft 3 make v9 && draft 2 && draft 2 make v1 more'

# -- older compilers --

project common && printf 'int twice;\n' >>common/main.c && printf 'int twice;\n' >>common/answer.c && cp make/Makefile common/ && commit common
test_that "what today's compiler refuses" "draft 0 common && line \"build = make -j{jobs} CC='gcc -fcommon'\" && has out '# .*-fcommon' && works common"
# A generator that puts text with an & in a place, and looks whether one is left.
project bash && printf '#!/bin/bash\nt=\x27const char \${mark} answer(const char *);\x27 w=\x27*/*&*/\x27\nt=${t//\\${mark\\}/$w}\n[[ $t != *\x27${\x27* ]] || { echo "error: undefined replacement \${mark}"; exit 1; }\n' >bash/generate.sh && chmod +x bash/generate.sh
printf 'solver: main.c answer.c\n\t./generate.sh\n\t$(CC) -o $@ main.c answer.c\n' >bash/Makefile && commit bash
if [ "$(bash -c 't=a; echo "${t//a/&&}"')" = aa ]; then
	test_that "scripts of before Bash 5.2" 'draft 0 bash && line "build = export BASH_ENV=\$PWD/bash-env && make -j{jobs}" && has out "^ *# .*Bash since 5.2" && works bash'
else
	skip "scripts of before Bash 5.2" "this Bash is older"
fi

# -- eras --

project eras && cp make/Makefile eras/ && commit eras 1 && echo >>eras/main.c && commit eras 2
git -C eras rm -q Makefile && cp hand/configure hand/in.mk eras/ && commit eras 3
last=$(git -C eras rev-parse v2)
test_that "another way to build in older commits" 'draft 0 eras && grep -qxF "[era \"..$last\"]" drafted.recipe && has out "Commits up to here are built by Makefile. That was not tried"'
test_that "--eras tries it" 'draft 0 eras --eras && has out "by Makefile. The last of them was built" && ! has out "It wants run" && line "output = solver" && works eras v1'
project kept && sed s/solver/hand/ make/Makefile >kept/Makefile && commit kept 1 && cp hand/configure hand/in.mk kept/ && commit kept 2
test_that "an older way to build has its file, also if it is still there and the present way does not read it" 'draft 0 kept && line "paths = :!Makefile" && line "paths = :!configure" && works kept v1'
test_that "--eras tries that, too, and says that it leaves out nothing" 'draft 0 kept --eras && ! has out "does not read these" && has out "Builds see the whole tree" && works kept v1'

project shares && printf 'solver: main.c answer.c\n\t$(CC) -shared -fPIC -o libanswer.so answer.c\n\t$(CC) -o $@ main.c -L. -lanswer\n' >shares/Makefile && commit shares 1
git -C shares rm -q Makefile && cp hand/configure hand/in.mk shares/ && commit shares 2
test_that "an older program needs a library of its build, and the present one none: both run" '
	draft 0 shares --eras && line "output = shared-libraries/libanswer.so" && line "environment = LD_LIBRARY_PATH=/solver" && has out "An era has no .environment." && works shares v1'
project stops && printf 'int twice;\n' >>stops/main.c && printf 'int twice;\n' >>stops/answer.c && cp make/Makefile stops/ && commit stops 1 && echo >>stops/main.c && commit stops 2
sed -i '/int twice/d' stops/main.c stops/answer.c && commit stops 3 && echo >>stops/main.c && commit stops 4
last=$(git -C stops rev-parse v2)
test_that "--eras finds where the same way builds no more, and the flag that older commits want" 'draft 0 stops --eras && grep -qxF "[era \"..$last\"]" drafted.recipe && line "build = make -j{jobs}" && has out "build = .*-fcommon" && works stops v2'
project ends && printf 'all:\n\tfalse\n' >ends/Makefile && commit ends 1 && cp make/Makefile ends/ && commit ends 2
test_that "... and says where nothing was found" 'draft 0 ends --eras && has out "^# Older commits were not built: the last try was $(git -C ends rev-parse v1)\.$"'

# -- what it reads of the tree --

project narrow && cp make/Makefile narrow/ && mkdir narrow/doc narrow/include && echo text >narrow/doc/a && echo text >narrow/README && echo "#define N 1" >narrow/include/n.h && sed -i '1i #include "include/n.h"' narrow/main.c && commit narrow
test_that "what the build does not read is left out" 'draft 0 narrow && line "paths = :!README" && line "paths = :!doc" && [ "$(grep -c "paths =" drafted.recipe)" = 2 ] && works narrow'
echo more >narrow/doc/b && commit narrow 2 && echo >>narrow/include/n.h && commit narrow 3
test_that "... and a commit that changes nothing else has the build of the one before" 'run 0 init && run 0 solver add narrow narrow --recipe drafted.recipe && run 0 build narrow v1 v2 v3 && has err "3 commits, 2 different builds"'

# -- a solver of the store --

test_that "a solver of the store" '
	toy_recipe make "build = make" "output = solver" && run 0 solver add make make --recipe make.recipe && mv make elsewhere && draft 0 make && line "output = solver"; r=$?
	mv elsewhere make; (exit $r)'

# -- solver add --

test_that "solver add drafts where no recipe is known, and goes on" 'run 0 solver add own make && has err "drafting one by building HEAD" && has err "^    build = make -j.jobs.$" && has err "^added own: 1 commit$" && no_trace &&
	printf "(declare-const p Bool)\n(assert p)\n(check-sat)\n" >p.smt2 && run 0 case add p.smt2 && run 0 run own v1 p.smt2 --print result && is out sat'
test_that "... but not for a name that is taken, before anything is built" 'run 1 solver add own make && has err "there is a solver .own. already" && ! has err drafting'
test_that "... a recipe that was asked for" 'run 3 solver add other make --recipe other && has err "no recipe .other."'
test_that "... nor where none is found: then nothing is added" 'run 1 solver add mute mute && empty out && has err "no recipe was found for mute" && run 3 solver remove mute'

# -- hostile names --

project hostile
printf 'x\n' >"hostile/$(printf 'a\nbuild = touch owned')" && printf 'x\n' >'hostile/"; touch owned #' && printf 'x\n' >'hostile/{bin}'
mkdir 'hostile/it'"'"'s $(touch owned)' && printf 'all:\n\tfalse\n' >"hostile/it's \$(touch owned)/Makefile"
mkdir hostile/src && mv hostile/*.c hostile/src/
printf 'all:\n\t$(CC) -o '"'"'s [x] "$$(id)" # ;'"'"' main.c answer.c\n' >hostile/src/Makefile && commit hostile
test_that "names that mean something to shells and to git-config" 'draft 0 hostile && grep -qF "output = \"src/s [x] " drafted.recipe && works hostile && [ ! -e owned ]'

echo "1..$n"
