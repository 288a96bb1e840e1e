#!/bin/bash
# Campaigns from outside: a regression that was planted in a toy solver's history is found and kept; a campaign that was killed goes on; what
# cannot be compared is refused. Prints TAP. Usage: test_campaign.sh SOLVERFS
. "$(dirname "$0")/command.sh"
clean_up() { fusermount3 -uz "$top/mnt" 2>/dev/null; }
tell_time
fault() { echo "$2" >faults/new && mv faults/new "faults/$1"; } # fault PLACE ORDER, as cache/base/fault.h says
no_faults() { find faults -name "[cej]*" -delete; }            # of campaign.*, engine.* and journal.*

# Fast at v1. From v2 on slow where an input measures the length of something, unless the seed is above 29; at v3 it also lies about what contains something, and
# v4 crashes there.
make_slow() {
	make_repository slow
	echo 'cp slow.sh slow && chmod +x slow' >slow/build.sh
	printf '#!/bin/sh\nfor case; do :; done\necho sat\n' >slow/slow.sh
	slow_commit 1 "fast"
	printf '#!/bin/sh\nfor case; do :; done\n[ "$1" = --seed ] && [ "$2" -gt 29 ] && echo sat && exit\ngrep -q str.len "$case" && echo "lasts 20" >&2 && echo 20000 >>"${CLOCK:-/dev/null}"\necho sat\n' >slow/slow.sh
	slow_commit 2 "slow for lengths"
	printf '#!/bin/sh\nfor case; do :; done\ngrep -q str.contains "$case" && echo unsat && exit\necho sat\n' >slow/slow.sh
	slow_commit 3 "wrong for containment"
	printf '#!/bin/sh\nfor case; do :; done\ngrep -q str.contains "$case" && kill -SEGV $$\necho sat\n' >slow/slow.sh
	slow_commit 4 "crashes for containment"
	echo 'exit 1' >slow/build.sh
	slow_commit 5 "broken"
	toy_recipe slow 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 2s'
	printf '[variant "other"]\n\targuments = --other\n' >>slow.recipe
}
slow_commit() {
	day_commit slow "$1" "$2" && git -C slow tag "v$1"
}

make_slow
run 0 init && run 0 solver add slow slow --recipe slow.recipe

# As many finds as are there, whatever the machine does meanwhile.
finds() { run 0 findings slow --json && grep -c "\"kind\":\"$1\"" out; }
campaign() { # campaign STATUS NAME FOR OPTION...
	local status=$1 name=$2 time=$3
	shift 3
	timeout -k 5 $((200 * ${CK_TIMEOUT_MULTIPLIER:-1})) "$solverfs" fuzz slow --name "$name" --for "$time" --threshold 700ms --timeout 1500ms --no-localize --no-reduce -j 1 "$@" >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}

# -- finding --

test_that "a campaign finds the regression, and says so" \
	'campaign 0 first 100s --max-finds 1 --reference v1 --target v2 && has err "found spr/1: v1 .*v2 more than 1.5" && has out "^state stopped" && has out "^finds [1-9]"'
test_that "findings are listed with both versions, and their times" \
	'run 0 findings slow && [ "$(field 2 | sort -u)" = spr ] && [ "$(field 6 | sort -u)" = "$(git -C slow rev-parse v1 | cut -c1-12)" ] && awk "\$4 > 0.7 || \$5 < 1.5 { exit 1 }" out'
test_that "... and under how many of its seeds they hold" '
	run 0 findings slow && has out "	([0-9]+)/\1$" && run 0 findings slow --json && has out "\"held\":[5-9]" && has out "\"pairs\":[5-9]"'
test_that "the input is kept, and listed nowhere" \
	'run 0 findings slow --json && has out "\"size\":[1-9]" && run 0 case list && empty out && run 0 fsck'
test_that "findings whose inputs are damaged are listed all the same" '
	cp -r "$SOLVERFS_STORE" hurt && for f in hurt/cases/??/*; do chmod +w "$f" && printf X | dd of="$f" conv=notrunc status=none || exit 1; done
	run 0 findings slow --all && cut -f 1 out >all && SOLVERFS_STORE=$top/hurt run 0 findings slow --all && cut -f 1 out | cmp - all && SOLVERFS_STORE=$top/hurt run 0 findings slow'
test_that "what became of a finding is kept" \
	'run 0 findings slow --mark 1 reported https://example.org/1 && run 0 findings slow && has out "reported.*https://example.org/1" && run 2 findings slow --mark 1 lost && run 3 findings slow --mark 999 fixed && has err "no finding 999"'
hold_cores
test_that "--wait gives up: no core is free" 'limit=30 run 75 fuzz slow --name full --for 10s -j 1 --reference v1 --target v2 --wait 0 && has err "waits for a core: somebody has core"'
let_cores_go
# Three inputs in ten take long, others with each version and each writing of the input.
make_script chaos
for v in 1 2; do script_commit chaos $v "set -- \$(sed s/^/$v/ \"\$case\" | cksum); [ \$((\$1 % 10)) -ge 3 ] || echo 'lasts 20' >&2"; done
toy_recipe chaos 'timeout = 2s' && run 0 solver add chaos chaos --recipe chaos.recipe
test_that "what is slow by chance alone is none" '
	timeout -k 5 200 "$solverfs" fuzz chaos --name chance --clock cpu --for 40s --threshold 700ms --timeout 1500ms --no-localize --no-reduce -j 1 --reference v1 --target v2 >out 2>err </dev/null &&
	candidates=$(sed -n "s/^candidates //p" out) && [ "$candidates" -ge 3 ] && [ $((3 * $(sed -n "s/^finds //p" out))) -le "$candidates" ]'
test_that "it takes no more cores than the config allows" '
	looks=0 most=0 && printf "[solverfs]\n\tcores = 1\n" >>"$SOLVERFS_STORE/config" || exit 1
	timeout -k 5 200 "$solverfs" fuzz chaos --name narrow --for 100s --threshold 700ms --timeout 1500ms --no-localize --no-reduce -j 2 --reference v1 --target v2 >out 2>err </dev/null &
	while [ $looks -lt 8 ] && kill -0 $!; do
		n=$("$solverfs" status 2>&1 | grep -c "^core [0-9]*: campaign")
		[ "$n" -le "$most" ] || most=$n
		looks=$((looks + (n > 0)))
	done 2>/dev/null
	sed -i "/cores = 1/d" "$SOLVERFS_STORE/config"
	kill $! && wait $!; [ $? = 130 ] && echo "# $most cores" && [ "$most" = 1 ]'
test_that "its files are there" \
	'cd "$SOLVERFS_STORE/campaigns/slow/first" && has progress.tsv "^seconds.inputs.runs" && has operators.tsv "^arm.expected" && has log "found spr/1" && has log "generated are formulas of strings$"'

# -- in the mount --

test_that "a finding is a folder with links to both commits" '
	mkdir -p mnt && run 0 mount mnt && cd mnt/slow/spr/1 && [ -e reference/message ] && [ "$(readlink target)" = "../../commits/$(git -C "$top/slow" rev-parse v2)" ] &&
	grep -q str.len case.smt2 && [ "$(cut -f 2 times.tsv | sed -n 3p)" = timeout ] && 
	for v in v1 v2; do grep -q "git checkout -q $(git -C "$top/slow" rev-parse $v)" report.md || exit 1; done'
# Somebody without solverfs and without a home, whose clock goes on as the solver says.
mkdir -p bare && printf '#!/bin/sh\nawk "{ s += \$1 } END { print s + 0 }" "$CLOCK"\n' >bare/date && chmod +x bare/date
elsewhere() { : >clock; env -i PATH="$top/bare:/usr/bin:/bin" CLOCK="$top/clock" sh "$1" "$top/$2" >out 2>err; }
test_that "report.md has what makers and machine are called, and that the input is not reduced" '
	grep -q "on .* cores), Linux [0-9]" mnt/slow/spr/1/report.md && grep -qE "in ([0-9]+) of \1 pairs of runs \(100%\)" mnt/slow/spr/1/report.md && grep -q "The input is not reduced; .solverfs reduce slow spr/1. does that" mnt/slow/spr/1/report.md'
test_that "its commands run as they stand there, one behind the other" '
	mkdir -p steps && cp mnt/slow/spr/1/case.smt2 steps && sed -n "/^\`\`\`sh\$/,/^\`\`\`\$/p" mnt/slow/spr/1/report.md | sed "1d;\$d" >steps.sh && (cd steps && sh -e ../steps.sh) >out 2>err && [ "$(grep -c "^sat$" out)" = 2 ]'
test_that "verify.sh builds both versions without solverfs, and confirms it" '
	elsewhere mnt/slow/spr/1/verify.sh there && has out "^building before: $(git -C slow rev-parse v1)" && has out "seed 1: before: sat in 0 ms, after: timeout in 20000 ms" && has out "^confirmed: longer by more than 700 ms in ([0-9]+) of \1 pairs"'
test_that "... also in a folder where it was killed while it cloned" '
	mkdir -p killed && printf "#!/bin/sh\nfor last; do :; done\n/usr/bin/git init -q \"\$last\"\nkill -9 \$PPID\n" >killed/git && chmod +x killed/git &&
	! env -i PATH="$top/killed:/usr/bin:/bin" sh mnt/slow/spr/1/verify.sh "$top/there7" >out 2>err && elsewhere mnt/slow/spr/1/verify.sh there7 && has out "^confirmed"'
test_that "... or does not, where it is not so" '
	sed "s/^after=.*/after=$(git -C slow rev-parse v3)/" mnt/slow/spr/1/verify.sh >wrong.sh && ! elsewhere wrong.sh there2 && has out "^not confirmed: .* in 0 of"'
test_that "... and says what cannot be built" '
	sed "s/^after=.*/after=$(git -C slow rev-parse v5)/" mnt/slow/spr/1/verify.sh >broken.sh; elsewhere broken.sh there3; [ $? = 2 ] && has out "cannot build $(git -C slow rev-parse v5)"'
test_that "seeds.tsv has both versions under each seed, before the default one was run" '
	timeout 100 cat mnt/slow/spr/1/seeds.tsv >out 2>err && grep -q "reproduces under 29 of 30" mnt/slow/spr/1/report.md && [ "$(sed -n 2p out | cut -f 1,2,4,6)" = "$(printf "1\tsat\ttimeout\tyes")" ] && [ "$(sed -n 31p out | cut -f 1,4,6)" = "$(printf "30\tsat\tno")" ]'
test_that "localized.tsv names the commit, once it is asked for" '
	timeout 200 cat mnt/slow/spr/1/localized.tsv >out 2>err && [ "$(sed -n 2p out | cut -f 2)" = "$(git -C slow rev-parse v2)" ] && has out "slow for lengths"'
test_that "culprits/ and by-commit/ lead to the commit and back" '
	sha=$(git -C slow rev-parse v2) && cd mnt/slow/spr && [ "$(ls by-commit)" = "$sha" ] && [ "$(ls 1/culprits)" = "$sha" ] && [ -e "1/culprits/$sha/message" ] &&
	[ "$(readlink "by-commit/$sha/1")" = ../../1 ] && [ -e "by-commit/$sha/1/case.smt2" ] && ! [ -e "by-commit/$(git -C "$top/slow" rev-parse v1)" ]'
test_that "what is measured later joins times.tsv, and history.svg marks the culprit" '
	id=$(run 0 findings slow --json && sed -n "s/.*\"id\":1,.*\"case\":\([0-9]*\),.*/\1/p" out) && [ "$(wc -l <mnt/slow/spr/1/times.tsv)" = 3 ] &&
	timeout 60 cat "mnt/slow/tags/v3/cases/$id/result" >out 2>err && [ "$(sed -n 4p mnt/slow/spr/1/times.tsv | cut -f 1,2)" = "$(printf "%s\tsat" "$(git -C slow rev-parse v3)")" ] &&
	grep -q "culprit $(git -C slow rev-parse v2 | cut -c1-8)" mnt/slow/spr/1/history.svg'
test_that "a campaign shows how far it is" '
	cd mnt/slow/spr/campaigns/first && grep -q "^finds [1-9]" status && grep -q "^threshold = 0.7s" settings && grep -q "<title>slow: findings of campaign first<" progress.svg && [ -s progress.tsv ]'
idle() { run 0 status && cat out err | grep -q "nothing runs and nothing waits"; }
test_that "looking starts nothing" '
	await idle
	ls -lR mnt/slow/spr mnt/slow/soundness mnt/slow/incompleteness >out 2>err && empty err && idle; r=$?; run 0 unmount mnt; (exit $r)'

# Its runs end at once from now on, and others have the core meanwhile: it may be their doing that nothing is to be seen, and nobody keeps that for good.
tell_time "$top/busy" && echo "fail EBUSY" >busy/measure.sample && cp -a store disturbed && sed -i "s/run = {bin} {seed} {case}/run = {bin} --seed 99 {seed} {case}/" disturbed/config
test_that "a localization that others disturbed is as long as it says, and the same for the next reader" '
	(export SOLVERFS_STORE=$top/disturbed SOLVERFS_FAULTS=$top/busy; run 0 mount mnt && cd mnt/slow/spr/1 && timeout 100 cat localized.tsv >"$top/first" && has "$top/first" "no culprit" && [ "$(wc -c <"$top/first")" = "$(stat -c %s localized.tsv)" ] &&
		[ "$(tr -d "\0" <"$top/first" | wc -c)" = "$(wc -c <"$top/first")" ] && cmp localized.tsv "$top/first" && [ -z "$(ls culprits)" ]); r=$?; run 0 unmount mnt; (exit $r)'

# -- culprits --

# Until it has found something, localized it, and found something more, three in all, however long that takes.
took_turns() { [ "$(grep -c "^found spr" err)" -ge 3 ] && grep -Eo "^(found|localized) spr" err | uniq | head -n 3 | sed "s/ .*//" | paste -sd" " | grep -qx "found localized found"; }
test_that "what is found is localized while the campaign goes on, and counted" '
	{ timeout -k 5 300 "$solverfs" fuzz slow --name told --for 250s --threshold 400ms --timeout 1s --no-reduce -j 1 --seed 3 --reference v1 --target v2 >out 2>err </dev/null & } && told=$! &&
	for _ in $(seq 800); do took_turns && break; sleep 0.3; done; kill $told && wait $told; took_turns && has err "localized spr/.* slow for lengths" &&
	tail -n 1 "$SOLVERFS_STORE/campaigns/slow/told/progress.tsv" | awk -F "\t" "\$5 < 3 || \$8 != 1 { exit 1 }"'

# Fast at v1 and slow at v9; between them a run is slow by chance, so that no number of runs tells which commit it was.
make_noisy() {
	make_repository noisy
	echo 'cp noisy.sh noisy && chmod +x noisy' >noisy/build.sh
	for v in $(seq 9); do
		chance=$(case $v in 1) echo false ;; 9) echo true ;; *) echo "[ \$(od -An -N1 -tu1 /dev/urandom) -lt 128 ]" ;; esac)
		printf '#!/bin/sh\n# %s\nfor case; do :; done\ngrep -q str.len "$case" && %s && echo "lasts 20" >&2\necho sat\n' "$v" "$chance" >noisy/noisy.sh
		git -C noisy add -A && GIT_COMMITTER_DATE="2024-02-0${v}T00:00:00Z" git -C noisy commit -q --date "2024-02-0${v}T00:00:00Z" -m "noise $v" && git -C noisy tag "v$v"
	done
	sed 's/slow/noisy/g; /variant/,$d' slow.recipe >noisy.recipe
}
make_noisy
found_in_noise() { timeout -k 5 300 "$solverfs" fuzz noisy --name "$1" --for 100s --threshold 400ms --timeout 1s --no-reduce -j 1 --seed 3 --reference v1 --target v9 "${@:2}" >out 2>err </dev/null; }
test_that "a search for commits that noise keeps up leaves the campaign its turns, and ends with its time" '
	run 0 solver add noisy noisy --recipe noisy.recipe && fault engine.compute "delay 20" && found_in_noise turns --max-finds 2 --localize-for 1ms && no_faults && grep -Eo "^(found|localized) " err | head -n 2 | sort -u | grep -qx "found " &&
	has err "findings? (is|are) not localized to the end.*--localize-for" && has out "^state stopped" && has out "^finds [2-9]"'
bounded() { timeout -k 5 300 "$solverfs" fuzz slow --name bounded --threshold 400ms --timeout 1s --no-reduce -j 1 --seed 4 --reference v1 --target v2 "$@" >out 2>err </dev/null; }
test_that "what is not localized when its time is over is when the campaign is called again with more, and then not once more" '
	fault engine.compute "delay 20" && bounded --for 100s --max-finds 1 --localize-for 1ms && no_faults && has err "not localized to the end in 1ms" && ! has err "^localized spr" &&
	bounded --for 1s --localize-for 250s && has err "^localized spr/.* slow for lengths" && ! has err "not localized" && has out "^state finished" &&
	bounded --for 1s --localize-for 250s && ! has err "localized"'

# By the clock on the wall a run of any version takes as long as chance will have it, as on a machine with much other work, v2 longer than the limit; v3 takes
# CPU time for lengths.
make_loaded() {
	make_repository loaded
	echo 'cp loaded.sh loaded && chmod +x loaded' >loaded/build.sh
	for v in 1 2 3 4; do
		printf '#!/bin/sh\n# %s\nfor case; do :; done\ncpu=0.01\n%s\necho "lasts %s.$((100 + $(od -An -N2 -tu2 /dev/urandom) %% 900)) cpu $cpu" >&2\necho sat\n' "$v" \
			"$([ "$v" -lt 3 ] || echo 'grep -q str.len "$case" && cpu=20')" "$((v == 2 ? 3 : 0))" >loaded/loaded.sh
		git -C loaded add -A && git -C loaded commit -q -m "$([ "$v" = 3 ] && echo "burns for lengths" || echo "loaded $v")" && git -C loaded tag "v$v"
	done
	sed 's/slow/loaded/g; /variant/,$d' slow.recipe >loaded.recipe
}
make_loaded
test_that "a campaign by CPU time is localized by CPU time, and its report says so" '
	run 0 solver add loaded loaded --recipe loaded.recipe && timeout -k 5 300 "$solverfs" fuzz loaded --clock cpu --name cpu --for 100s --max-finds 1 --threshold 400ms --timeout 1s --no-reduce -j 1 --seed 3 --reference v1 --target v4 >out 2>err </dev/null &&
	has err "^localized spr/1: [0-9]+ $(git -C loaded rev-parse v3) 0.010000 1.000000 burns for lengths" && run 0 mount mnt && cat mnt/loaded/spr/1/localized.tsv mnt/loaded/spr/1/report.md >out &&
	has out "$(git -C loaded rev-parse v3)	0.010000	1.000000" && has out "^Each run had 1s of CPU time"; r=$?
	cp mnt/loaded/spr/1/times.tsv mnt/loaded/spr/1/history.svg .; run 0 unmount mnt; (exit $r)'
test_that "... as times.tsv and history.svg of it show, what was longer by the other clock, too" '
	v2=$(git -C loaded rev-parse v2) v3=$(git -C loaded rev-parse v3) && grep -q "^$v2	sat	0.010000" times.tsv && grep -q "^$v3	timeout	1" times.tsv &&
	grep -q "<title>${v2:0:12}, .*: sat, 0.01 s" history.svg && grep -q "<title>${v3:0:12}, .*: timeout, 1 s" history.svg'
test_that "... and it says which of its times are CPU time" '
	terminal "$solverfs" fuzz loaded --clock cpu --name clock --for 60s --no-localize --no-reduce -j 1 --threshold 400ms --timeout 1s --seed 3 --reference v1 --target v4 && has out "inputs, [0-9.]+ a CPU second, " &&
	! has out " left" && run 0 mount mnt && cp mnt/loaded/spr/campaigns/clock/status out &&
	has out "^worked [0-9]*s of CPU time$" && has out "^finds-per-cpu-hour" && has mnt/loaded/spr/campaigns/clock/progress.svg ">CPU time of the solvers<"; r=$?; run 0 unmount mnt; (exit $r)'
test_that "localize takes the clock of a finding" 'run 0 localize loaded spr/1 --json && has out "\"clock\": ?\"cpu\""'
test_that "... unless another one is given" 'timeout -k 5 200 "$solverfs" localize loaded spr/1 --clock wall --json >out 2>err; ! has out "\"clock\": ?\"cpu\"" && has out "\"state\""'

# Two histories in one repository.
make_script roots
script_commit roots 1 "# fast"
git -C roots checkout -q --orphan other
script_commit roots 2 'grep -q str.len "$case" && echo "lasts 20" >&2'
toy_recipe roots 'timeout = 2s'
test_that "findings between two histories are not localized, which ends nothing" '
	run 0 solver add roots roots --recipe roots.recipe && timeout -k 5 300 "$solverfs" fuzz roots --name roots --for 100s --max-finds 1 --threshold 300ms --timeout 700ms -j 1 --reference v1 --target v2 >out 2>err </dev/null &&
	has err "^not localized: spr/1: reference and target have no commit in common" && has err "^reduced spr/1: " && [ "$(grep -c "^not localized: spr/1" err)" = 1 ]'
test_that "... and localized.tsv has no data" '
	run 0 mount mnt && ! cat mnt/roots/spr/1/localized.tsv >out 2>err && has err "No data available"; r=$?; run 0 unmount mnt; (exit $r)'

# -- reducing, beside the search and at the end --

export SOLVERFS_STORE=$top/reducing && run 0 init && run 0 solver add slow slow --recipe slow.recipe
rows() { run 0 findings slow "${@:2}" && [ "$(grep -c . out)" = "$1" ]; }
alike() { campaign "$1" alike 100s --threshold 300ms --timeout 700ms --seed 3 --reference v1 --target v2 "${@:2}"; }
test_that "as they were found, slowdowns are not known to have one cause" '
	alike 0 --max-finds 2 && ! has out to-report && has out "^finds [2-9]" && cp out searched && sed -n "s/^finds //p" out >found && rows "$(cat found)" && rows "$(cat found)" --all'
test_that "a campaign killed while it reduces goes on there; reduced, they are one, which says for how many it stands" '
	echo "kill after 9" >faults/reduce.try
	alike 137 --for 1ms --reduce-for 180s && rm faults/reduce.try* && echo "delay 1500 times 2" >faults/reduce.try && alike 0 --for 1ms --reduce-for 180s && cp out reduced && rm faults/reduce.try &&
	has err "^reduced spr/[0-9]: [0-9][0-9] of [0-9]{3,} bytes$" && has err "^$(cat found) findings come to 1 to report$" && has out "^to-report 1$" && has out "^state finished" &&
	rows 1 && [ "$(field 8)" = "$(cat found)" ] && rows "$(cat found)" --all'
worked() { sed -n "s/^worked \([0-9]*\)s/\1/p" "$1"; }
test_that "once more, there is nothing to do; reducing is no time of the search" '
	alike 0 --for 1ms --reduce-for 180s && ! has err "^reduced" && has out "^to-report 1$" && [ "$(worked reduced)" -le $(($(worked searched) + 1)) ]'
test_that "a group whose findings are not all localized is one all the same" '
	both="--reference $(git -C slow rev-parse v1) --target $(git -C slow rev-parse v2)" && run 0 localize slow $both --timeout 700ms spr/1 && run 0 localize slow spr/1 && has out "slow for lengths" && run 0 findings slow --all --json && has out "\"culprit\":\"[0-9a-f]" && rows 1'

# Two causes. Killed while it reduces beside the search; then ended once it has found something, reduced it, and found something more, however long that takes.
make_script pair
script_commit pair 1 "# 1"
script_commit pair 2 'grep -qE "str.len|str.replace" "$case" && echo "lasts 20" >&2'
toy_recipe pair 'timeout = 2s' && run 0 solver add pair pair --recipe pair.recipe
beside=(timeout -k 5 300 "$solverfs" fuzz pair --name beside --threshold 300ms --timeout 700ms --no-localize --reduce-for 250s -j 1 --seed 5 --reference v1 --target v2)
reduced_between() { [ "$(grep -c "^found spr" err)" -ge 4 ] && sed "1,/^reduced spr/d" err | grep -q "^found spr"; }
test_that "what is found is reduced while the campaign goes on, also behind a kill" '
	echo "kill after 5" >faults/reduce.try && { "${beside[@]}" --for 250s >out 2>err </dev/null; [ $? = 137 ]; } && rm faults/reduce.try &&
	{ "${beside[@]}" --for 250s >out 2>err </dev/null & } && pid=$! &&
	for _ in $(seq 800); do reduced_between && break; sleep 0.3; done; kill $pid && wait $pid; reduced_between'
test_that "at its end all groups are reduced, and groups are what it counts" '
	"${beside[@]}" --for 1ms >out 2>err </dev/null && n=$(sed -n "s/^to-report //p" out) && [ "$n" -ge 1 ] && has err "^$(sed -n "s/^finds //p" out) findings come to $n to report$" && ! has err "not reduced" &&
	run 0 findings pair --json && [ "$(grep -c . out)" = "$n" ] && [ "$(grep -c "\"reduced\":[1-9]" out)" = "$n" ] &&
	run 0 findings pair --all && [ "$(grep -c . out)" -ge 4 ]'
export SOLVERFS_STORE=$top/store

# -- by-products --

test_that "two versions that contradict each other are a finding of their own, and no regression" \
	'campaign 0 lies 100s --max-finds 1 --reference v1 --target v3 --pairs any --oracle v2 && [ "$(finds soundness)" -ge 1 ] && has "$SOLVERFS_STORE/campaigns/slow/lies/log" "^[-0-9]{10}T[:0-9]{8}Z .*v1 says sat, v3 says unsat"'
test_that "verify.sh of a contradiction goes by the answers" '
	id=$(run 0 findings slow --json && sed -n "s/.*\"id\":\([0-9]*\),\"kind\":\"soundness\".*/\1/p" out | head -n 1) && run 0 mount mnt && { elsewhere "mnt/slow/soundness/$id/verify.sh" there4 && has out "^confirmed$"; r=$?; run 0 -q unmount mnt; [ $r = 0 ]; }'
test_that "so is a crash, once" 'campaign 0 crashes 100s --max-finds 1 --reference v1 --target v4 && [ "$(finds crash)" = 1 ]'
make_script split
script_commit split 1 "# fast" && script_commit split 2 'grep -q str.len "$case" && echo unsat && exit' && script_commit split 3 'grep -q str.len "$case" && echo "lasts 20" >&2'
script_commit split 4 'grep -q str.len "$case" && kill -SEGV $$'
toy_recipe split 'timeout = 2s' && run 0 solver add split split --recipe split.recipe
split() { timeout -k 5 200 "$solverfs" fuzz split --name "of-$1" --for 100s --max-finds 2 --threshold 700ms --timeout 1500ms --no-localize --no-reduce -j 1 --pairs any --reference v1 --reference v2 --target "$1" >out 2>err </dev/null; }
test_that "two references that contradict each other show no slowdown" 'split v3 && has out "^soundness [1-9]" && has out "^finds 0$"'
test_that "... and hide no crash of the target" 'split v4 && has out "^soundness [1-9]" && has out "^crashes 1$"'
# Wrong under one seed of the solver alone, which only confirming a regression asks for; or crashing there.
make_script moody
for v in 1 2 3; do
	script_commit moody $v "$([ $v = 1 ] || echo "[ \"\$1 \$2\" = '--seed 2' ] && $([ $v = 2 ] && echo 'echo unsat && exit' || echo 'kill -SEGV $$')")
grep -q str.len \"\$case\" && [ $v != 1 ] && echo 'lasts 20' >&2"
done
toy_recipe moody 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 2s' && run 0 solver add moody moody --recipe moody.recipe
moody() { timeout -k 5 200 "$solverfs" fuzz moody --name "of-$1" --for 100s --max-finds 1 --threshold 700ms --timeout 1500ms -j 1 --reference v1 --target "$1" "${@:2}" >out 2>err </dev/null; }
test_that "a contradiction under a seed is reduced and localized under it, and its report and verify.sh have it" '
	moody v2 --localize-for 100s --reduce-for 100s && has err "^found soundness/1: v1 says sat, v2 says unsat, under the solver.s seed 2$" && has err "^reduced soundness/1:" && has err "^localized soundness/1: .* sat unsat commit 2" &&
	run 0 reduce moody soundness/1 && run 0 mount mnt && { cp mnt/moody/soundness/1/report.md out && has out "moody --seed 2 ../case.smt2" && has out "solver.s seed was 2" &&
	elsewhere mnt/moody/soundness/1/verify.sh there5 && has out "^confirmed$"; r=$?; run 0 -q unmount mnt; [ $r = 0 ]; }'
test_that "so is a crash under a seed" 'moody v3 --no-localize --reduce-for 100s && has err "^found soundness/[0-9]: v3 crashed .*, under the solver.s seed 2$" && has err "^reduced soundness/[0-9]:"'
test_that "... whose verify.sh has one commit, and builds it once" '
	id=$(run 0 findings moody --json && sed -n "s/.*\"id\":\([0-9]*\),\"kind\":\"crash\".*/\1/p" out | head -n 1) && run 0 mount mnt && { elsewhere "mnt/moody/soundness/$id/verify.sh" there6 &&
	has out "^building before" && ! has out "^building after" && has out "^confirmed$"; r=$?; run 0 -q unmount mnt; [ $r = 0 ]; }'

# The reference says unknown under one seed; the target is over its limit on the input as it is, and not under any seed.
make_script shy
script_commit shy 1 '[ "$1 $2" = "--seed 2" ] && echo unknown && exit'
script_commit shy 2 'grep -q str.len "$case" && if [ "$1" = --seed ]; then echo "lasts 1.2" >&2; else echo "lasts 20" >&2; fi'
toy_recipe shy 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 2s' && run 0 solver add shy shy --recipe shy.recipe
test_that "a reference without an answer is not fast: a finding does not hold in that pair" '
	timeout -k 5 200 "$solverfs" fuzz shy --for 100s --max-finds 1 --threshold 700ms --timeout 1500ms --no-localize --no-reduce -j 1 --reference v1 --target v2 >out 2>found </dev/null &&
	run 0 findings shy --json && python3 -c "import json; f = json.loads(open(\"out\").readline()); exit(f[\"held\"] + 1 != f[\"pairs\"])"'
test_that "... and its target is over the limit if the median run is" '
	has found "^found spr/1: v1 0\.[0-9]*s, v2 1\.2[0-9]*s$" && run 0 mount mnt && { cp mnt/shy/spr/1/report.md out && has out "^# shy: .*s becomes 1\.2s$" &&
	has out "^\| .*commit 2\) \| sat \| 1\.2[0-9]* \| 1\.500 1\.2"; r=$?; run 0 -q unmount mnt; [ $r = 0 ]; }'

# -- going on --

test_that "confirming a candidate ends with the time, and goes on with more" '
	cut() { campaign 0 cut "$@" --clock cpu --max-finds 1 --reference v1 --target v2; }
	cut 2s && has err "a candidate is not confirmed, as the search is over" && has out "^finds 0" && has out "^state finished" && [ "$(sed -n "s/^worked \\([0-9]*\\).*/\\1/p" out)" -le 4 ] &&
	cut 1000s && has out "^finds 1" && has err "goes on behind"'
test_that "a campaign that was killed goes on, and finds nothing twice" '
	(fault campaign.input "kill after 20"; campaign 137 killed 100s --max-finds 90 --seed 7 --reference v1 --target v2); no_faults
	campaign 0 killed 100s --max-finds 2 --seed 7 --reference v1 --target v2 && has err "goes on behind [1-9]" &&
	run 0 findings slow --json && [ -z "$(sed -n "s/.*\"kind\":\"spr\",\"case\":\([0-9]*\),.*/\1/p" out | sort | uniq -d)" ]'
test_that "one that is at its end says so at once" 'campaign 0 killed 1s --seed 7 --reference v1 --target v2 && has out "^state finished"'
test_that "one of that name with other settings is refused, with those it has" \
	'campaign 2 first 100s --reference v1 --target v2 --seed 9 && has err "other settings" && has err "seed = 1"'

# -- what happens to it meanwhile --

# One campaign, a session at a time, under faults. Its status in `code`.
session() { # session NAME FOR OPTION...
	local name=$1 time=$2
	shift 2
	timeout -k 5 100 "$solverfs" fuzz slow --name "$name" --for "$time" --threshold 300ms --timeout 700ms --no-localize --no-reduce -j 1 "$@" --reference v1 --target v2 >out 2>err </dev/null
	code=$?
	no_faults
}
# Every find of the campaign is a finding, and every finding is counted.
adds_up() { # adds_up NAME
	local counted
	counted=$(sed -n "s/^finds //p" out) && run 0 findings slow --all --json && [ "$counted" -ge 1 ] && [ "$(grep -c "\"kind\":\"spr\".*\"campaign\":\"$1\"" out)" = "$counted" ]
}
test_that "killed at every record of its journal, it loses nothing and finds nothing twice" '
	for i in 0 1 2 3 4 5 6 7; do fault campaign.journal "kill after $i"; session records 100s --seed 21; [ $code = 137 ] || exit 1; done 2>/dev/null
	session records 100s --seed 21 --max-finds 1 && [ $code = 0 ] && adds_up records'
test_that "a full disk ends it with a sentence, and it goes on when there is room" '
	for place in campaign.journal journal.append; do
		fault $place "fail ENOSPC after 3"; session full 100s --seed 22 --max-finds 2; [ $code != 0 ] && has err "No space left" || exit 1
	done
	session full 100s --seed 22 --max-finds 1 && [ $code = 0 ] && adds_up full'
test_that "of two campaigns of one name the second is refused" '
	fault campaign.input block
	"$solverfs" fuzz slow --name twin --for 100s --threshold 300ms --timeout 700ms --no-localize --no-reduce -j 1 --reference v1 --target v2 >/dev/null 2>&1 </dev/null & pid=$!
	until [ -s faults/campaign.input.met ]; do sleep 0.1; done
	run 1 fuzz slow --name twin --for 100s --threshold 300ms --timeout 700ms --no-localize --no-reduce -j 1 --reference v1 --target v2; r=$?
	mkdir -p mnt && "$solverfs" -q mount mnt && has mnt/slow/spr/campaigns/twin/status "^state running$"; m=$?
	kill -KILL $pid; wait $pid 2>/dev/null; no_faults; [ $r = 0 ] && has err "running in another process" && [ $m = 0 ]'
test_that "... also while the first is only asking its versions" '
	tell_time "$top/asked" && echo block >asked/keeper.begin && { SOLVERFS_FAULTS=$top/asked "$solverfs" fuzz slow --name asking --for 100s --seed 2 -j 1 --reference v1 --target v2 >/dev/null 2>&1 </dev/null & } && pid=$!
	await "[ -s asked/keeper.begin.met ]" && campaign 1 asking 1s --reference v1 --target v2 && has err "running in another process"; r=$?
	kill -KILL $pid; wait $pid 2>/dev/null; [ $r = 0 ]'
test_that "one that was killed is not said to be running" 'has mnt/slow/spr/campaigns/twin/status "^state stopped$"; r=$?; run 0 unmount mnt; [ $r = 0 ]'
make_script late
for v in 1 2; do script_commit late $v "[ \"\$case\" = --version ] && exec sleep 100 # $v"; done
toy_recipe late 'timeout = 2s' && run 0 solver add late late --recipe late.recipe
test_that "one that a signal ends before its search is not said to be running" '
	"$solverfs" fuzz late --for 100s -j 1 --reference v1 --target v2 >first 2>second </dev/null & pid=$!
	await "run 0 status && has err \"^campaign .* of late,\"" && kill $pid; wait $pid; [ $? = 130 ] && has first "^state stopped$" && has second "^interrupted; "'
test_that "a campaign whose solver is removed stops, and says so" '
	sed "/variant/,\$d" slow.recipe >gone.recipe && run 0 solver add gone slow --recipe gone.recipe
	"$solverfs" fuzz gone --name left --for 100s --threshold 300ms --timeout 700ms --no-localize --no-reduce -j 1 --reference v1 --target v2 >first 2>second </dev/null & pid=$!
	until [ -s "$SOLVERFS_STORE/campaigns/gone/left/journal" ]; do sleep 0.1; done
	run 0 solver remove gone; wait $pid; [ $? != 0 ] && has second "gone was removed"'
test_that "one whose runs cannot be started says why, last" '
	export SOLVERFS_EXEC=$top/none && campaign 4 nothing 100s --reference v1 --target v2 && tail -n 1 err | grep -q "SOLVERFS_EXEC is .*/none., which is not"; r=$?; unset SOLVERFS_EXEC; (exit $r)'

# -- what kind of change it was --

test_that "triage lists the culprits, and by hand it is said better" '
	run 0 triage slow && [ "$(field 1,2,3,4)" = "$(git -C slow rev-parse v2 | cut -c1-12)$(printf "\tunknown\t-\twords")" ] && has out "slow for lengths" && has err "1 commit responsible" &&
	run 0 triage slow --set v2 algorithm compromise && run 0 triage slow && [ "$(field 2,3,4)" = "$(printf "algorithm\tcompromise\thand")" ] &&
	run 2 triage slow --set v2 luck && run 3 triage slow --set v1 fix && has err "no finding"'
test_that "a table counts them by class" '
	run 2 triage slow other --table --json && has err "exclude each other" && run 0 triage slow other --table && [ "$(sed -n 1p out)" = "$(printf "class\tslow\tother\ttotal")" ] && has out "^algorithm.1.0.1$" && has out "^compromise.1.0.1$"'

# -- noise --

test_that "noise is measured once, and a threshold follows" '
	echo "(check-sat)" >plain.smt2 && run 0 case add plain.smt2 && run 0 set add few plain.smt2 && run 0 noise slow v1 --runs 3 --set few &&
	[ "$(field 2,3,8,9)" = "$(printf "1\t3\t0\t0")" ] && has err "threshold" && awk "\$7 < 0.1 { exit 1 }" out && cp out before &&
	run 0 noise slow v1 --runs 3 plain.smt2 && cmp before out && run 0 noise slow v1 v2 --runs 3 --set few --json && [ "$(grep -c samples out)" = 2 ]'
test_that "noise of no version is that of HEAD" '
	"$solverfs" -q noise slow HEAD plain.smt2 --runs 2 >one 2>err; status=$?
	[ $status -lt 2 ] && run $status -q noise slow plain.smt2 --runs 2 && cmp one out && run $status -q noise slow --set few --runs 2 && cmp one out'
test_that "a run that failed has no time, and its case is said to be left out" '
	echo "(check-sat) ; again" >again.smt2 && run 0 case add again.smt2 && no_faults && fault engine.compute "fail EIO after 1 times 1"
	run 4 noise slow v1 --runs 2 again.smt2 --json; r=$?; no_faults
	[ $r = 0 ] && has out "\"seconds\": *\[(null, *0\.[0-9]*|0\.[0-9]*, *null)\]" && has err "1 case left out"'
test_that "noise as a picture: a point for each case and version, and the threshold" '
	run 0 noise slow v1 v2 --runs 3 --set few --svg noise.svg && grep -q "<title>slow: how much runs of the same version differ<" noise.svg &&
	[ "$(grep -o "<title>plain.smt2 at " noise.svg | wc -l)" = 2 ] && grep -q ">threshold [0-9.]*s<" noise.svg &&
	run 4 noise slow v1 --runs 3 --set few --svg nowhere/noise.svg && has err "cannot write nowhere/noise.svg: No such file or directory"'
test_that "noise of what cannot be built" 'run 1 noise slow v5 --runs 2 plain.smt2 && has err "cannot be built"'
test_that "noise passes over what the solver does not take, and says so" '
	printf "p cnf 1 1\n1 0\n" >a.cnf && run 0 case add a.cnf && run 1 noise slow v1 --runs 3 plain.smt2 a.cnf && has err "is passed over: a.cnf is no SMT-LIB file" && [ "$(field 2)" = 1 ]'

# -- what cannot be --

printf '#!/bin/sh\necho "(error \\"no such option\\")"\nexit 1\n' >mute && chmod +x mute
mkdir answered && echo "(declare-fun s () String)(assert (= s (str.++ s \"a\")))(check-sat)" >answered/good.smt2
mute="exec:'$top/mute'" # the scratch folder has a blank in its name
refused() { has err "mute@[0-9a-f]* answers no SMT-LIB that it is given; its first run: .error .no such option.\)"; }
test_that "a target that answers nothing is refused, and its words are shown" 'campaign 1 mute 10s --reference v1 --target "$mute" && refused'
test_that "... also with the logic given, with a corpus, and as the reference" '
	campaign 1 mute 10s --reference v1 --target "$mute" --logic QF_LIA && refused && campaign 1 mute 10s --reference v1 --target "$mute" --corpus answered && refused &&
	campaign 1 mute 10s --reference "$mute" --target v1 && refused'
test_that "what was asked for a campaign that never began is asked again" '
	campaign 2 unbegun 10s --reference v1 --target v2 --threshold 30s && campaign 1 unbegun 10s --reference "$mute" --target v1 && refused'
test_that "so is one that prints nothing" 'campaign 1 mute 10s --reference v1 --target exec:/bin/true && has err "true@[0-9a-f]* answers no SMT-LIB"'
printf '#!/bin/sh\n[ "$1" = --version ] || { echo "x: error while loading shared libraries: libnone.so: cannot open shared object file: none" >&2; exit 127; }\n' >lacking && chmod +x lacking
lacking="exec:'$top/lacking'"
test_that "... and one that does not begin, which is told as by run" '
	campaign 1 mute 10s --reference v1 --target "$lacking" && has err "first run: the program cannot be executed: it needs the shared library libnone.so, which is missing"'
test_that "the same version twice" 'campaign 2 x 10s --reference v1 --target v1 && has err "the same version"'
test_that "the wrong way round" 'campaign 2 x 10s --reference v2 --target v1 && has err "comes after.*swap"'
test_that "an end that cannot be built is said at once" 'campaign 1 x 10s --reference v1 --target v5 && has err "cannot be built at v5"'
test_that "no such version" 'campaign 3 x 10s --reference v1 --target v9 && has err "v9"'
test_that "no such program" 'campaign 3 x 10s --reference exec:/no/such --target v1 && has err "no program /no/such"'
unclosed="exec:'/no such"
test_that "a path whose quote is not closed" 'campaign 2 x 10s --reference "$unclosed" --target v1 && has err "not closed"'
test_that "a program without its whole path" 'campaign 2 x 10s --reference exec:sh --target v1 && has err "whole path"'
begun=$(date +%s)
test_that "off a terminal, counts are told every ten seconds" '
	campaign 0 counts 2s --reference v1 --target v2 && [ "$(grep -cE "^[0-9]+ inputs" err)" -le $((1 + ($(date +%s) - begun) / 10)) ]'
programs=$(mktemp -d /tmp/solverfs-test-XXXXXX) && outside+=("$programs")
for v in v1 v2; do git -C slow show $v:slow.sh >"$programs/$v" && chmod +x "$programs/$v"; done
test_that "programs of the machine are listed by their names" '
	campaign 0 programs 100s --max-finds 1 --reference "exec:$programs/v1" --target "exec:$programs/v2" &&
	run 0 findings slow --campaign programs --all && [ "$(field 6,7 | sort -u)" = "exec:$programs/v1	exec:$programs/v2" ]'
test_that "a threshold that nothing can reach" 'run 2 fuzz slow --reference v1 --target v2 --for 1s --threshold 30s && has err "below the timeout"'
test_that "no time" 'run 2 fuzz slow --reference v1 --target v2 && has err "how long"'
test_that "no target" 'run 2 fuzz slow --reference v1 --for 1s && has err "target"'
test_that "an empty corpus" 'mkdir corpus && campaign 1 x 10s --reference v1 --target v2 --corpus corpus && has err "no input"'
test_that "a corpus that is not there" 'campaign 3 x 10s --reference v1 --target v2 --corpus nowhere && has err "nowhere"'
test_that "a corpus whose path is no UTF-8 is refused, and a version" '
	bad=$(printf "corp\351s") && mkdir "$bad" && echo "(declare-fun s () String)(assert (= s \"a\"))(check-sat)" >"$bad/good.smt2" && campaign 2 x 10s --reference v1 --target v2 --corpus "$bad" && has err "a path or version of .* no UTF-8" &&
	campaign 2 y 10s --reference v1 --target "v2:--x=$(printf "\377")" && has err "a path or version of .* no UTF-8"'
test_that "a file of the corpus that does not parse is left out, named and counted" '
	echo "(assert (= 1" >corpus/bad.smt2
	echo "(declare-fun s () String)(assert (= s (str.++ s \"a\")))(check-sat)" >corpus/good.smt2
	campaign 0 corpus 1s --reference v1 --target v2 --corpus corpus && has err "left out: .*bad.smt2:1:" && has out "^skipped-seeds 1"'
test_that "a link to a file is an input of the corpus, and one that leads nowhere is named and counted" '
	mkdir linked real && mv corpus/good.smt2 real && ln -s ../real/good.smt2 linked/good.smt2 && ln -s nowhere linked/lost.smt2 && ln -s nowhere linked/README &&
	campaign 0 linked 1s --reference v1 --target v2 --corpus linked && has err "left out: .*lost.smt2: No such file" && has out "^skipped-seeds 1"'
test_that "a name that is no folder" 'campaign 2 a/b 10s --reference v1 --target v2 && has err "name of a campaign"'
test_that "the name under which comparisons keep their findings" 'campaign 2 compare 10s --reference v1 --target v2 && has err "compare --keep"'

echo "1..$n"
