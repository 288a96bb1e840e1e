#!/bin/bash
# A solver's page: what is on it, that nobody's names are taken for markup, that its links lead somewhere, and that a browser draws it.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
tell_time
check_page() { python3 "$source_dir/tests/tools/check_page.py" "$@"; }
make_mount

# Twelve commits; the third cannot be built, the seventh makes it slow. Its subject, its author and a case's name would like to be markup.
evil='</script><script>document.title="owned"</script><img src=x onerror="document.title=1"> & '$(printf '\001\377')
git init -q -b main hist && git -C hist config user.name 'A "B" & C' && git -C hist config user.email t@example.org
for i in $(seq 1 12); do
	time=0.01 subject="commit $i"
	[ "$i" -lt 7 ] || time=0.25
	[ "$i" != 7 ] || subject=$evil
	printf '#!/bin/sh\n# %s\necho "lasts %s$(date +%%N)" >&2\ngrep -q wrong "$1" && echo sat || echo unsat\n' "$i" $time >hist/toy.sh
	echo "$([ "$i" != 3 ] && echo 'cp toy.sh toy && chmod +x toy' || echo 'exit 1')" >hist/build.sh
	git -C hist add -A && printf '%s' "$subject" | git -C hist commit -q -F - 2>/dev/null
	[ $((i % 4)) != 0 ] || git -C hist tag "v$i&<b>" # a name that git allows
done
toy_recipe toy
printf '(check-sat)\n' >'<b onclick=x>"a&b.smt2'
printf '(check-sat)\n(exit)\n' >b.smt2
printf '; wrong\n(set-info :status unsat)\n(check-sat)\n' >w_is_a_name_that_is_longer_than_a_phone_is_wide_as_there_is_no_blank_in_it.smt2
run 0 init && run 0 solver add --recipe toy.recipe toy hist && run 0 case add ./*.smt2 || { cat err; exit 1; }

test_that "a page of nothing measured says what to do" 'run 0 report toy -o page.html && empty out && has page.html "Nothing is measured" && check_page page.html >data'
run 0 -q history toy 1 2 --all && run 0 -q set add few 2
test_that "the page on standard output: steps with their commit, tags, commits; as JSON what is plotted" '
	run 0 report toy && cp out page.html && check_page page.html >data && python3 -c "
import json
d = json.load(open(\"data\"))
assert len(d[\"columns\"]) == 11 and all(c[\"on_line\"] for c in d[\"columns\"]), d
assert [c.get(\"tags\") for c in d[\"columns\"]][-1] == \"v12&<b>\" and d[\"set\"][\"solved\"][-1] == 2
assert [s[1:] for s in d[\"steps\"]] == [[4, 5], [4, 5]], d[\"steps\"]
assert {len(c[\"cells\"]) for c in d[\"cases\"]} == {33, 0}, d[\"cases\"]
" && has page.html "<summary>2 cases</summary>" && has page.html "1 commit cannot be built|>1</dd>"'
test_that "names stay text" '! grep -q "<script>document" page.html && ! grep -q "<img" page.html && ! grep -q "<b onclick" page.html &&
	has page.html "&lt;/script&gt;&lt;script&gt;document" && has page.html "&lt;b onclick=x&gt;&quot;a&amp;b.smt2" && has page.html "A &quot;B&quot; &amp; C"'
test_that "a page that stands in no mount has no links; xmllint reads it" '! grep -q "<a href=\"[^#]" page.html && { ! command -v xmllint >/dev/null || xmllint --html --noout page.html 2>lint; ! grep -vE "Tag (section|nav|main|header|footer|figure|output|details|summary|datalist|svg|path|g|text|circle|rect|title)|^[^ ]*: |\^|^ |^<|^.{0,200}$" lint; }'
test_that "--set: the cases of a set" 'run 0 report toy --set few -o few.html && has few.html "1 case of the set few" && check_page few.html >data && [ "$(grep -o "\"cells\"" data | wc -l)" = 1 ]'
test_that "the same again is the same, byte by byte" 'run 0 report toy && cmp out page.html'
run 1 -q run toy HEAD 3 --quiet
test_that "a wrong answer stands above all" 'run 0 report toy -o page.html && grep -q "1 wrong or contradictory answer" page.html && grep -qE "toy [0-9a-f]{12} says sat on case [0-9]+ \(w_is_[a-z_]*.smt2\)" page.html'
printf '#!/bin/sh\necho sat\n' >liar && chmod +x liar && liar="exec:'$PWD/liar'"
test_that "... on the page of programs, too, and theirs on no other" '
	run 1 run "$liar" 3 && run 0 report programs && has out "1 wrong or contradictory answer" && has out "programs liar[^ ]* says sat on case" && run 0 report toy && cmp out page.html'
test_that "a version is counted on the cases that it shares with the one before it" '
	python3 -c "
import re
table = re.search(\"(?s)>(The last tags|First and last)<.*?</table>\", open(\"page.html\").read()).group()
heads = [re.sub(\"<.*?>\", \"\", h) for h in re.findall(\"<th scope=.col.*?</th>\", table)]
rows = [dict(zip(heads, (re.sub(\"<.*?>\", \"\", c) for c in re.findall(\"(?s)<t[hd].*?</t[hd]>\", r)))) for r in table.split(\"<tr>\")[2:]]
assert rows and heads[2] == \"compared\", heads
for r in rows: assert int(r[\"compared\"]) == int(r[\"sat\"]) + int(r[\"unsat\"]) + int(r[\"timeout\"]) == 2, r
"'
test_that "what was not run is not solved, and a line joins what is of the same cases" '
	export SOLVERFS_STORE=$top/sparse && run 0 init && run 0 solver add --recipe toy.recipe toy hist && run 0 case add ./*.smt2 && run 0 -q run toy HEAD~8 1 && run 0 -q run toy HEAD~4 1 2 && run 0 -q run toy HEAD 1 2 &&
	run 0 report toy -o sparse.html && check_page sparse.html >data && has sparse.html "<small>of 2 run</small>" && has sparse.html ">1 of 1</td>" && python3 -c "
import json
d = json.load(open(\"data\"))
assert [c[\"measured\"] for c in d[\"columns\"]] == [1, 2, 2] and d[\"set\"][\"solved\"] == [1, 2, 2], d
assert [c[\"is_comparable\"] for c in d[\"columns\"]] == [False, False, True], d
"'
test_that "... and the curves of solved cases are of those that all versions have run" 'python3 -c "
import re
picture = re.search(\"(?s)<figure>.*?</figure>\", open(\"sparse.html\").read()).group()
assert \">1 case run with all of these versions<\" in picture and \">1<\" in picture and \">2<\" not in picture, picture
"'
# Commits 4 to 6 have one program, 7 is not measured, 8 is slow.
make_script gap
for i in 1 2 3 4 5 6 7 8 9 10 11; do
	printf '#!/bin/sh\n# %s\necho "lasts %s" >&2\necho unsat\n' "$((i == 5 || i == 6 ? 4 : i))" "$([ $i -lt 8 ] && echo 0.01 || echo 0.25)" >gap/gap.sh
	git -C gap add -A && git -C gap commit -q --allow-empty -m "commit $i" && git -C gap tag "v$i"
done
toy_recipe gap
test_that "a step between two programs has the last commit of the one and the first of the other" '
	run 0 solver add --recipe gap.recipe gap gap && run 0 -q run gap v1 v2 v3 v4 v5 v6 v8 v9 v10 v11 2 && run 0 report gap && sed "s/<[^>]*>//g" out >text &&
	has text "$(git -C gap rev-parse v6 | cut -c1-12)\.\.$(git -C gap rev-parse v8 | cut -c1-12) \(2 commits\)"'
test_that "no such solver, set; a file that cannot be written" '
	run 3 report nosuch && run 3 report toy --set nosuch && run 2 report && run 4 report toy -o nosuch/x.html && has err "cannot write nosuch/x.html" && [ ! -e nosuch ]'

if [ -w /dev/fuse ]; then
	run 0 mount "$mnt" -q
	look() { stat -c %s "$mnt/toy/report.html"; }
	test_that "report.html in the mount: a look makes no page" 'look >out && is out 4096 && ls -lR "$mnt/toy" >ls.out && look >out && is out 4096'
	test_that "... once opened its size is right, its links lead somewhere, it starts nothing" '
		[ "$(wc -c <"$mnt/toy/report.html")" = "$(cat "$mnt/toy/report.html" | wc -c)" ] && [ "$(look)" = "$(wc -c <"$mnt/toy/report.html")" ] && check_page "$mnt/toy/report.html" "$mnt/toy" >data2 && grep -q "\"folder\":\"commits/\"" data2 &&
		grep -q "^solverfs_asked_total 0$" "$mnt/.solverfs/stats"'
	test_that "its time is that of the newest fact, and both follow the next one" '
		cp -fp "$mnt/toy/report.html" before.html && for i in $(seq 50); do # until the median moves
			run 0 -q run toy HEAD~1 1 --again; cmp -s before.html "$mnt/toy/report.html" || break
		done; ! cmp -s before.html "$mnt/toy/report.html" &&
		[ "$mnt/toy/report.html" -nt before.html -o "$(stat -c %Y before.html)" = "$(stat -c %Y "$mnt/toy/report.html")" ] && [ "$(stat -c %s "$mnt/toy/report.html")" = "$(wc -c <"$mnt/toy/report.html")" ]'
	test_that "after a write a look still makes none: the size is the last page's, the time that of the look, so that make reads it again" '
		last=$(look) && cp -fp "$mnt/toy/report.html" before.html && run 1 -q run toy HEAD~1 3 && [ "$(look)" = "$last" ] && ! [ "$mnt/toy/report.html" -ot before.html ] &&
		[ "$(wc -c <"$mnt/toy/report.html")" != "$last" ] && [ "$(look)" = "$(wc -c <"$mnt/toy/report.html")" ]'
	run 0 unmount "$mnt" && run 0 mount -o cached "$mnt" -q
	test_that "in a mount of what is finished, which is there to be copied, a look has the size" '[ "$(look)" = "$(wc -c <"$mnt/toy/report.html")" ] && [ "$(look)" -gt 4096 ]'
	test_that "in a mount of what is finished its links lead into cached/" 'check_page "$mnt/toy/report.html" "$mnt/toy" >data2 && grep -q "\"folder\":\"cached/\"" data2'
	run 0 unmount "$mnt"
else
	skip "report.html in the mount" "no /dev/fuse here"
fi

browser=$(command -v chromium || command -v chromium-browser)
# Prints the page as the browser has it after its scripts. Not narrower than 500 pixels: a phone's page stands in a frame.
browse() {
	"$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
		--disable-sync --user-data-dir="$(mktemp -d "$top/browser.XXXX")" --virtual-time-budget=3000 --window-size=1000,800 --dump-dom "$(top_url)/$1" 2>browser.log
}
if [ -n "$browser" ]; then
	# One more script, which the policy does not name.
	sed 's#</main>#</main><script>document.title = "owned"</script>#' page.html >strange.html
	test_that "in a browser: three plots, tables that can be sorted, and no script but the one" '
		browse strange.html >dom && grep -q "<title>toy</title>" dom && [ "$(grep -o "class=\"cursor\"" dom | wc -l)" = 3 ] && grep -q "<button type=\"button\">PAR-2" dom &&
		grep -q "class=\"spark\"" dom && ! grep -q "<img" dom && [ "$(grep -c "id=\"history-plots\" hidden" dom)" = 0 ]'
	# The same without a policy, and with somebody who clicks, types and zooms.
	cat >person.js <<'END3'
const assert = (what, value) => { if (!value) throw new Error(what); };
window.addEventListener("error", (e) => { document.title = "failed: " + e.message; });
{ /* at once: without a screen no frame may ever come */
	const table = [...document.querySelectorAll("table")].find((t) => t.caption.textContent === "Measured commits");
	const dates = () => [...table.tBodies[0].rows].map((r) => r.cells[3].dataset.v).map(Number), by = [...table.tHead.querySelectorAll("button")].find((b) => b.textContent === "PAR-2");
	const sorted = (list, sign) => list.every((v, i) => i === 0 || sign * (v - list[i - 1]) >= 0);
	by.click(); assert("descending", sorted(dates(), -1) && table.tHead.rows[0].cells[3].getAttribute("aria-sort") === "descending");
	by.click(); assert("ascending", sorted(dates(), 1) && table.tHead.rows[0].cells[3].getAttribute("aria-sort") === "ascending");
	const search = table.parentElement.previousElementSibling.querySelector("input");
	search.value = "V12 commit"; search.dispatchEvent(new Event("input"));
	assert("search", [...table.tBodies[0].rows].filter((r) => !r.hidden).length === 1);
	const plot = document.getElementById("plot-solved"), says = () => document.querySelector(".readout").textContent, last = says();
	plot.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
	assert("the first commit", says().includes("commit 1") && says() !== last);
	const { left, width } = plot.getBoundingClientRect(), shown = () => [...document.querySelectorAll("#plot-case .middle")].map((t) => t.textContent).join(" "), all = shown();
	const point = (type, share) => plot.dispatchEvent(new PointerEvent(type, { clientX: left + width * share, pointerId: 1, pointerType: "mouse", bubbles: true }));
	point("pointermove", 0.99);
	assert("a pointer tells of the commit below it", says().includes("commit 12") && document.querySelector("#plot-par2 .cursor").getAttribute("d") && document.querySelector("#plot-par2 .dot").getAttribute("d"));
	point("pointerdown", 0.5); point("pointermove", 0.9); point("pointerup", 0.9);
	assert("dragged, all three show a part", shown() !== all && !/\b1\b/.test(shown()) && document.querySelectorAll("#plot-solved .line").length === 1);
	plot.dispatchEvent(new MouseEvent("dblclick"));
	assert("all again", shown() === all);
	document.querySelector("[data-zoom=in]").click(); assert("zoomed", shown() !== all);
	document.querySelector("[data-zoom=all]").click(); assert("all of it", shown() === all);
	document.querySelectorAll("button.spark")[1].click();
	assert("the second case", document.querySelector(".case-name").textContent === "b.smt2");
	document.querySelector("select.by").value = "date"; document.querySelector("select.by").dispatchEvent(new Event("change"));
	assert("by date", /^\d\d(\d\d)?-/.test(shown()));
	assert("nothing is NaN", !document.getElementById("history-plots").innerHTML.includes("NaN"));
	assert("no picture is cut off", [...document.querySelectorAll("figure, .plot")].every((e) => e.scrollWidth <= e.clientWidth) && document.documentElement.scrollWidth <= innerWidth);
	document.title = "all is well";
}
END3
	python3 - <<'END4'
import re
page = open("page.html", encoding="utf-8").read()
page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
open("person.html", "w", encoding="utf-8").write(page.replace("</body>", "<script>" + open("person.js").read() + "</script></body>"))
END4
	printf '<iframe src="person.html" style="width:390px;height:800px"></iframe>' >phone.html
	cat >>phone.html <<-'END5'
		<script>addEventListener("message", (e) => { document.title = e.data; });</script>
	END5
	sed -i 's#</body>#<script>parent.postMessage(document.title, "*")</script></body>#' person.html
	for page in person phone; do
		test_that "... where somebody sorts, searches, zooms and looks at a case: $page" 'browse $page.html >dom && { grep -q "<title>all is well</title>" dom || { grep -o "<title>.*</title>" dom | head -1; tail -n 5 browser.log; false; }; }'
	done
else
	skip "the page in a browser" "no chromium here"
fi
echo "1..$n"
