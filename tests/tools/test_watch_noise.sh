#!/bin/bash
# A watch where times and answers vary by themselves, as on a busy machine: no alarm, but for a step that is one. Prints TAP.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

tell_time # the noise is the solver's
toy_recipe toy 'effort = conflicts: ([0-9]+)'
# Times of the first case are a coin's, those of the second are slow for some seconds and then fast again, the third now and then gets no answer, the
# fourth's effort is a coin's.
for what in coin spells lost effort; do printf '; %s\n(check-sat)\n' $what >$what.smt2; done
git init -q -b main noise && git -C noise config user.name T && git -C noise config user.email t@example.org
echo 'cp toy.sh toy && chmod +x toy' >noise/build.sh
noisy() { # noisy NAME MILLISECONDS: a commit; all take as long at least
	cat >noise/toy.sh <<-END2
		#!/bin/sh
		# $1
		coin=\$(od -An -N1 -tu1 /dev/urandom) spell=\$((\$(date +%s) / 3 % 2)) answer=sat ms=$2
		case \$(head -n 1 "\$1") in
		*coin) [ \$coin -lt 90 ] && ms=\$((ms + 50)) ;;
		*spells) [ \$spell = 1 ] && ms=\$((ms + 50)) ;;
		*lost) [ \$coin -lt 50 ] && answer=unknown ;;
		*effort) echo "conflicts: \$((1000 + 20 * coin))" >&2 ;;
		esac
		printf "lasts 0.%03d\\n" \$ms >&2
		echo \$answer
	END2
	git -C noise add -A && git -C noise commit -q -m "$1"
}
noisy 1 3
watch() { run "$1" watch toy --once --on-alarm 'cat >>told'; }
test_that "the watch begins" 'run 0 init && run 0 solver add --recipe toy.recipe toy noise && run 0 case add coin.smt2 spells.smt2 lost.smt2 effort.smt2 && watch 0'
for i in 2 3 4 5 6 7; do noisy $i 3; done
test_that "what looks slower or lost at first is run again in turn, and is no alarm" 'watch 0 && empty out && [ ! -e told ] && run 0 alarms toy && empty out'
noisy "a real step" 300
test_that "a step that is one is found in the noise" '
	watch 6 && [ "$(field 2 | sort -u)" = slower ] && [ "$(field 3 | sort -u)" = "$(git -C noise rev-parse HEAD)" ] && has told "^subject   a real step$"'
test_that "alarms were told once" 'rm told && watch 0 && empty out && [ ! -e told ]'
echo "1..$n"
