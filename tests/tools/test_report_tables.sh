#!/bin/bash
# A solver's page with all that its tables may hold: findings of a campaign, alarms of a watch, steps. Prints TAP.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
check_page() { python3 "$source_dir/tests/tools/check_page.py" "$@"; }
make_mount

# Subjects, branches and case names would like to be markup.
tell_time
git init -q -b 'main<b>' hist && git -C hist config user.name T && git -C hist config user.email t@example.org
echo 'cp toy.sh toy && chmod +x toy' >hist/build.sh
toy() { # toy SUBJECT BODY: a commit, and what the solver does before it answers
	printf '#!/bin/sh\n%s\necho unsat\n' "$2" >hist/toy.sh
	git -C hist add -A && git -C hist commit -q -m "$1"
}
toy_recipe toy 'timeout = 5s'
printf '(check-sat)\n' >'<i>plain.smt2'
printf '; str.contains\n(set-info :status unsat)\n(check-sat)\n' >contains.smt2
toy "fast" 'echo "lasts 0.01" >&2'
run 0 init && run 0 solver add --recipe toy.recipe toy hist && run 0 case add ./*.smt2 || { cat err; exit 1; }
run 0 -q watch toy --once
toy "slower <i>again</i>" 'echo "lasts 0.6" >&2'
toy "lies & <b>more</b>" 'grep -q "str.contains" "$1" && echo sat && exit'
echo 'exit 1' >hist/build.sh && git -C hist commit -qam "broken <u>"
run 6 -q watch toy --once
campaign() { timeout -k 5 100 "$solverfs" -q fuzz toy --for 60s --max-finds 1 --no-reduce -j 1 "$@" >out 2>err </dev/null; }
campaign --name slow --reference HEAD~3 --target HEAD~2 --threshold 300ms --timeout 500ms || sed "s/^/# /" err
campaign --name lies --reference HEAD~3 --target HEAD~1 --pairs any --oracle HEAD~2 --threshold 700ms --timeout 1500ms --no-localize || sed "s/^/# /" err
run 0 -q findings toy --mark 1 reported 'https://example.org/<1>'
run 0 -q alarms toy --mark 1 fixed 'https://example.org/<2>'

cat >tables.py <<'END2'
"""Prints each table's rows as `caption|cell|cell|...`, text alone."""
import html.parser, sys
class Tables(html.parser.HTMLParser):
    caption, cell, row, place = "", "", None, None
    def handle_starttag(self, tag, attributes):
        if tag in ("caption", "td"): self.place = tag; setattr(self, "caption" if tag == "caption" else "cell", "")
        if tag == "tr": self.row = []
    def handle_data(self, data):
        if self.place == "caption": self.caption += data
        if self.place == "td": self.cell += data
    def handle_endtag(self, tag):
        if tag == "td": self.row.append(self.cell)
        if tag == self.place: self.place = None
        if tag == "tr" and self.row: print("|".join([self.caption] + self.row))
Tables(convert_charrefs=True).feed(open(sys.argv[1], encoding="utf-8").read())
END2
commit() { git -C hist rev-parse "$1" | cut -c1-12; }
test_that "the page is whole" 'run 0 report toy -o page.html && check_page page.html >data && python3 tables.py page.html >rows'
test_that "alarms: a row each, with the worst case and the mark" '
	[ "$(grep -c "^Alarms|" rows)" = 3 ] && has rows "^Alarms\|slower\|[^|]*\|$(commit HEAD~2)\|slower <i>again</i>\|main<b>\|[0-9.]+×\|2\|[^|]*(plain|contains).smt2: 0\.0[0-9]+ s → 0\.[6-9][0-9]* s\|" &&
	has rows "^Alarms\|wrong\|[^|]*\|$(commit HEAD~1)\|lies & <b>more</b>\|main<b>\|–\|1\|contains.smt2: unsat → sat\|" &&
	has rows "^Alarms\|unbuildable\|[^|]*\|$(commit HEAD)\|broken <u>\|" && has rows "^Alarms\|.*\|fixed https://example.org/<2>$"'
test_that "findings: slowdowns with the commit responsible; of a target over the limit both numbers are the least" '
	has rows "^Slowdowns [^|]*found; 1 reported[^|]*\|> [0-9.]+×\|0\.[0-9]+ s\|> 0\.500 s\|$(commit HEAD~3)\|$(commit HEAD~2)\|$(commit HEAD~2) slower <i>again</i>\|[0-9]+\|[^|]*\|slow\|reported https://example.org/<1>$"'
test_that "... wrong answers" 'has rows "^Wrong answers and crashes [0-9]+ found[^|]*\|soundness\|$(commit HEAD~3)\|$(commit HEAD~1)\|not localized\|1\|.*\|lies\|"'
test_that "names stay text" '! grep -qE "<i>(again|plain)|<b>more|<u>|main<b>|<[12]>" page.html'
if [ -w /dev/fuse ]; then
	run 0 mount "$mnt" -q
	test_that "in the mount commits, findings and alarms are links that lead there" '
		check_page "$mnt/toy/report.html" "$mnt/toy" >data && for l in alarms/1 alarms/3 spr/1/ "commits/$(git -C hist rev-parse HEAD~2)/"; do grep -q "href=\"$l\"" "$mnt/toy/report.html" || { echo "no $l"; exit 1; }; done'
	run 0 unmount "$mnt"
else
	skip "in the mount commits, findings and alarms are links" "no /dev/fuse here"
fi

browser=$(command -v chromium || command -v chromium-browser)
# Draws a page: browse PAGE WIDTH,HEIGHT ARGUMENT...
browse() {
	"$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
		--disable-sync --user-data-dir="$(mktemp -d "$top/browser.XXXX")" --virtual-time-budget=3000 --window-size="$2" "${@:3}" "$(top_url)/$1" 2>browser.log
}
if [ -n "$browser" ]; then
	# The widths, seen from inside: the page never scrolls sideways, and a table scrolls by itself.
	sed -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' -e 's#</body>#<script>{ const d = document.documentElement, t = [...document.querySelectorAll("table")].map((x) => x.caption.textContent); document.title = `${d.scrollWidth <= d.clientWidth ? "fits" : "wide " + d.scrollWidth + " " + d.clientWidth} ${["Alarms", "Slowdowns"].every((w) => t.some((c) => c.startsWith(w))) ? "both" : t}`; }</script></body>#' page.html >measured.html
	test_that "in a browser, on a desk and on a phone: both tables are there, and the page is not wider than the window" '
		for size in 1280,900 500,800; do browse measured.html $size --dump-dom >dom && grep -q "<title>fits both</title>" dom || { grep -o "<title>.*</title>" dom | head -1; tail -n 3 browser.log; exit 1; }; done'
	# Paper as wide as A4 without its margins.
	sed -e 's/@media print/@media all/' -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' -e 's#</body>#<script>document.title = "cut:" + [...document.querySelectorAll(".scroll")].filter((x) => x.scrollWidth > x.clientWidth).map((x) => x.textContent.slice(0, 20));</script></body>#' page.html >paper.html
	test_that "on paper no table is cut off" 'browse paper.html 720,1000 --dump-dom >dom && grep -q "<title>cut:</title>" dom || { grep -o "<title>.*</title>" dom | head -1; exit 1; }'
	# For the eye: KEEP_PICTURES=FOLDER
	[ -z "${KEEP_PICTURES-}" ] || { cp page.html "$KEEP_PICTURES/"; browse page.html 1280,3600 --screenshot="$KEEP_PICTURES/desk.png"; browse page.html 500,4200 --screenshot="$KEEP_PICTURES/phone.png"; }
else
	skip "the page in a browser" "no chromium here"
fi
echo "1..$n"
