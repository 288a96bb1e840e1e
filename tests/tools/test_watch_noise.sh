#!/bin/bash
# A watch where times and answers vary by themselves, as on a busy machine: no alarm, but for a step that is one. Prints TAP.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

tell_time # the noise is the solver's
toy_recipe toy 'effort = conflicts: ([0-9]+)'
# Times of the first case jump, those of the second are slow for some runs and then fast again, the third now and then gets no answer, the fourth's
# effort jumps. The noise is not drawn: it follows from how often the version ran on the case, so that the judgement is the same each time. For that a run
# has to leave something behind, which no sandbox lets it do.
for what in coin spells lost effort; do printf '; %s\n(check-sat)\n' $what >$what.smt2; done
make_repository noise
echo 'cp toy.sh toy && chmod +x toy' >noise/build.sh
mkdir counts
version=0
noisy() { # noisy NAME MILLISECONDS: a commit; all take as long at least
	version=$((version + 1))
	cat >noise/toy.sh <<-END2
		#!/bin/sh
		# $1
		what=\$(sed -n '1s/^; //p' "\$1") answer=sat ms=$2
		echo >>"$top/counts/$version.\$what"
		count=\$(wc -l <"$top/counts/$version.\$what")
		turn=\$((count + $version)) spell=\$(((count / 6 + $version) % 2))
		case \$what in
		coin) [ \$((turn % 3)) = 0 ] && ms=\$((ms + 50)) ;;
		spells) [ \$spell = 1 ] && ms=\$((ms + 50)) ;;
		lost) [ \$((turn % 5)) = 0 ] && answer=unknown ;;
		effort) echo "conflicts: \$((1000 + 1500 * (turn % 3)))" >&2 ;;
		esac
		printf "lasts 0.%03d\\n" \$ms >&2
		echo \$answer
	END2
	git -C noise add -A && git -C noise commit -q -m "$1"
}
noisy 1 3
watch() { run "$1" watch toy --once --on-alarm 'cat >>told'; }
test_that "the watch begins" 'run 0 init && echo "sandbox = none" >>"$SOLVERFS_STORE/config" && run 0 solver add --recipe toy.recipe toy noise && run 0 case add coin.smt2 spells.smt2 lost.smt2 effort.smt2 && watch 0'
for i in 2 3 4 5; do noisy $i 3; done
test_that "what looks slower or lost at first is run again in turn, and is no alarm" 'watch 0 && empty out && [ ! -e told ] && run 0 alarms toy && empty out'
noisy "a real step" 300
test_that "a step that is one is found in the noise" '
	watch 6 && [ "$(field 2 | sort -u)" = slower ] && [ "$(field 3 | sort -u)" = "$(git -C noise rev-parse HEAD)" ] && has told "^subject   a real step$"'
test_that "alarms were told once" 'rm told && watch 0 && empty out && [ ! -e told ]'
echo "1..$n"
