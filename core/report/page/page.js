/* What a page of solverfs does beyond being read: tables that are sorted and searched, and plots that are zoomed. Without it the page shows all its
 * tables, and its other pictures. It takes nothing from the network, and nothing that it shows is ever taken for markup. html.h says what it reads. */
"use strict";
(() => {
	const all = (selector, within = document) => [...within.querySelectorAll(selector)];
	const make = (name, attributes = {}, ...children) => {
		const e = document.createElement(name);
		for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
		e.append(...children);
		return e;
	};
	const SVG = "http://www.w3.org/2000/svg";

	/* -- links: they lead to names beside the page, so they are of use only where it stands ----------------------- */

	const home = document.documentElement.dataset.home;
	const isHome = home && decodeURIComponent(location.pathname).endsWith(home);
	if (!isHome) for (const a of all("a[href]:not([href^='#'])")) a.replaceWith(...a.childNodes);

	/* -- tables ---------------------------------------------------------------------------------------------------- */

	const FIRST = 20; /* rows shown before they are asked for */
	const collator = new Intl.Collator("en", { numeric: true });

	function keyOf(cell) {
		if (!cell) return "";
		const v = cell.dataset.v;
		return v === undefined ? cell.textContent : v === "" ? NaN : Number(v);
	}

	function compare(a, b, sign) {
		if (typeof a === "number" && typeof b === "number") /* what has no number is last, either way */
			return isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : sign * (a - b);
		return sign * collator.compare(a, b);
	}

	function setUp(table) {
		const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
		const words = rows.map((row) => row.textContent.toLowerCase());
		const count = make("output", { class: "count" });
		const search = make("input", { type: "search", placeholder: "Search", "aria-label": `Search: ${table.caption.textContent}` });
		const more = make("button", { type: "button", class: "more" });
		let order = rows.map((_, i) => i), isOpen = rows.length <= FIRST + 5;

		function show() {
			const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
			const found = order.filter((i) => wanted.every((w) => words[i].includes(w)));
			const shown = new Set(isOpen ? found : found.slice(0, FIRST));
			for (const i of order) {
				rows[i].hidden = !shown.has(i);
				body.append(rows[i]);
			}
			count.textContent = wanted.length ? `${found.length} of ${rows.length}` : "";
			more.hidden = shown.size === found.length;
			more.textContent = `Show all ${found.length} rows`;
		}
		function sortBy(head) {
			const index = heads.indexOf(head), was = head.getAttribute("aria-sort");
			const numeric = head.classList.contains("n");
			const up = was ? was === "descending" : !numeric; /* numbers: the largest first */
			const keys = rows.map((row) => keyOf(row.cells[index]));
			for (const h of heads) h.removeAttribute("aria-sort");
			head.setAttribute("aria-sort", up ? "ascending" : "descending");
			order.sort((a, b) => compare(keys[a], keys[b], up ? 1 : -1) || a - b);
			show();
		}
		for (const head of heads) {
			if (head.dataset.plain !== undefined) continue;
			const button = make("button", { type: "button" }, ...head.childNodes);
			button.addEventListener("click", () => sortBy(head));
			head.append(button);
		}
		more.addEventListener("click", () => { isOpen = true; show(); search.focus(); });
		search.addEventListener("input", show);
		if (rows.length > 8) table.parentElement.before(make("div", { class: "tools" }, search, count));
		table.parentElement.after(more);
		show();
	}
	all("table.sort").forEach(setUp);

	/* -- the history: what it holds ---------------------------------------------------------------------------------- */

	const source = document.getElementById("history-data");
	if (!source) return;
	const data = JSON.parse(source.textContent), columns = data.columns;
	for (const c of columns) c.tags = c.tags ? c.tags.split(", ") : null; /* no name of git's has a space */
	const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const LEAST = 1e-4, DECADES = 9;

	/* A case's cells: a dot where nothing is measured; else how it ended, and the logarithm of the seconds in two digits. */
	function cellsOf(code) {
		const cells = new Array(columns.length).fill(null);
		for (let at = 0, column = 0; at < code.length; column++) {
			if (code[at] === ".") { at++; continue; }
			const v = ALPHABET.indexOf(code[at + 1]) * 64 + ALPHABET.indexOf(code[at + 2]);
			cells[column] = { kind: Number(code[at]), seconds: LEAST * 10 ** ((v * DECADES) / 4095) };
			at += 3;
		}
		return cells;
	}
	const seconds = (v) => v === null || v === undefined ? "–"
		: `${v >= 100 ? v.toFixed(0) : v >= 0.001 ? v.toPrecision(3) : v.toFixed(6)} s`;

	/* -- small pictures in the rows of cases ------------------------------------------------------------------------- */

	function spark(cells) {
		const W = 120, H = 20, known = cells.map((c, i) => (c && columns[i].on_line ? [i, Math.log(c.seconds)] : null)).filter(Boolean);
		const svg = document.createElementNS(SVG, "svg");
		svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
		svg.setAttribute("aria-hidden", "true");
		if (!known.length) return svg;
		let low = Math.min(...known.map((k) => k[1])), high = Math.max(...known.map((k) => k[1]));
		const middle = (low + high) / 2, half = Math.max((high - low) / 2, Math.log(2)); /* noise is to look flat */
		low = middle - half; high = middle + half;
		const x = (i) => 2 + ((W - 4) * i) / Math.max(columns.length - 1, 1), y = (v) => H - 3 - ((H - 6) * (v - low)) / (high - low);
		const path = document.createElementNS(SVG, "path");
		path.setAttribute("d", known.map(([i, v], k) => (k ? `H${x(i).toFixed(1)}V${y(v).toFixed(1)}` : `M${x(i).toFixed(1)} ${y(v).toFixed(1)}`)).join(""));
		svg.append(path);
		const [last, at] = known[known.length - 1], dot = document.createElementNS(SVG, "circle");
		dot.setAttribute("cx", x(last)); dot.setAttribute("cy", y(at)); dot.setAttribute("r", 2);
		dot.setAttribute("class", `k${cells[last].kind}`);
		svg.append(dot);
		return svg;
	}

	/* -- plots ------------------------------------------------------------------------------------------------------- */

	const root = document.documentElement;
	const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
	const FONT = '11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
	const box = document.getElementById("history-plots"), readout = box.querySelector(".readout");
	const charts = [];
	let byDate = false, shared = false;

	/* The x of each column: its place in the history, or its date, which must not go back. */
	function places() {
		let last = -Infinity;
		return columns.map((c) => (last = Math.max(last, byDate ? c.time : c.place)));
	}
	let xs = places();

	function marker(ctx, kind, x, y) {
		const r = 3.4 * devicePixelRatio;
		ctx.beginPath();
		if (kind === 0) ctx.arc(x, y, r, 0, 2 * Math.PI);
		else if (kind === 1) ctx.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
		else if (kind === 2) { ctx.moveTo(x, y - 1.2 * r); ctx.lineTo(x + 1.1 * r, y + 0.8 * r); ctx.lineTo(x - 1.1 * r, y + 0.8 * r); ctx.closePath(); }
		else if (kind === 3) { ctx.moveTo(x, y - 1.3 * r); ctx.lineTo(x + 1.2 * r, y); ctx.lineTo(x, y + 1.3 * r); ctx.lineTo(x - 1.2 * r, y); ctx.closePath(); }
		else if (kind === 4) { ctx.moveTo(x, y + 1.2 * r); ctx.lineTo(x + 1.1 * r, y - 0.8 * r); ctx.lineTo(x - 1.1 * r, y - 0.8 * r); ctx.closePath(); }
		else { ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x + r, y - r); ctx.lineTo(x - r, y + r); }
		if (kind < 5) ctx.fill();
		ctx.stroke();
	}

	/* Names of tags above the plot, as far as there is room, and a line down from each. */
	function drawTags(u, withNames) {
		const { ctx } = u, { left, top, width, height } = u.bbox;
		let taken = -Infinity;
		ctx.save();
		ctx.font = FONT.replace("11px", `${10.5 * devicePixelRatio}px`);
		ctx.textAlign = "left";
		ctx.textBaseline = "alphabetic";
		ctx.fillStyle = css("--muted");
		ctx.strokeStyle = css("--line");
		ctx.lineWidth = devicePixelRatio;
		columns.forEach((c, i) => {
			const x = u.valToPos(xs[i], "x", true);
			if (!c.tags || x < left - 1 || x > left + width + 1) return;
			ctx.beginPath(); ctx.moveTo(x, top); ctx.lineTo(x, top + height); ctx.stroke();
			const name = c.tags[0], w = ctx.measureText(name).width;
			let from = Math.min(Math.max(x - w / 2, left), left + width - w);
			if (!withNames || from < taken) return;
			ctx.fillText(name, from, top - 5 * devicePixelRatio);
			taken = from + w + 8 * devicePixelRatio;
		});
		ctx.restore();
	}

	function axis(label, values, extra = {}) {
		return {
			stroke: () => css("--muted"), font: FONT, labelFont: FONT, gap: 4, labelGap: 2, label, labelSize: label ? 18 : 0,
			grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1, size: 4 }, values, ...extra,
		};
	}
	const tidy = (v) => (v === null ? "" : v >= 1e4 || (v && v < 1e-3) ? v.toExponential(0) : String(+v.toPrecision(6)));

	const WHOLE = [1, 2, 5].flatMap((d) => [...Array(8).keys()].map((e) => d * 10 ** e)).sort((a, b) => a - b);

	function xAxis(isShown) {
		const values = byDate ? undefined : (u, splits) => splits.map(String);
		return axis(null, isShown ? values : (u, splits) => splits.map(() => ""), { size: isShown ? 30 : 6, space: 70, ...(byDate ? {} : { incrs: WHOLE }) });
	}

	function options(id, height, scale, series, isLast, hooks) {
		const element = document.getElementById(id), { whole, ...y } = scale;
		return {
			width: element.clientWidth, height, padding: [id === "plot-solved" ? 18 : 8, 12, 0, 0], legend: { show: false },
			scales: { x: { time: byDate, range: xRange }, y },
			axes: [xAxis(isLast), axis(null, (u, splits) => splits.map(tidy), { size: 48, space: 24, ...(whole ? { incrs: WHOLE } : {}) })],
			cursor: { sync: { key: "history" }, drag: { x: true, y: false, dist: 4 }, points: { show: false }, y: false },
			series, hooks: { ...hooks, setScale: [shareZoom], setCursor: [(u) => tell(u)] },
		};
	}
	/* Some room on both sides; with one column, more. */
	function xRange(u, low, high) {
		const first = xs[0], last = xs[xs.length - 1], span = last - first || (byDate ? 86400 : 2);
		if (low === null || (low === first && high === last)) return [first - span * 0.02, last + span * 0.02];
		return [low, high];
	}
	function shareZoom(u, key) {
		if (key !== "x" || shared) return;
		shared = true;
		for (const c of charts) if (c.plot !== u) c.plot.setScale("x", { min: u.scales.x.min, max: u.scales.x.max });
		shared = false;
	}

	const onLine = (list) => list.map((v, i) => (columns[i].on_line ? v : null));
	const offLine = (list) => list.map((v, i) => (columns[i].on_line ? null : v));

	/* One quantity of the set: a step line along first parents, and a ring for each commit beside it. */
	function setChart(id, height, list, colour, scale, isLast, withTags) {
		const series = [{}, {
			stroke: () => css(colour), width: 1.8, spanGaps: true, paths: uPlot.paths.stepped({ align: 1 }), points: { show: columns.length <= 60, size: 5, fill: () => css(colour) },
		}, { stroke: () => css(colour), width: 0, points: { show: true, size: 7, width: 1.5, fill: () => css("--bg") } }];
		const o = options(id, height, scale, series, isLast, { drawClear: [(u) => drawTags(u, withTags)] });
		return { id, options: o, data: [xs, onLine(list), offLine(list)] };
	}

	let chosen = data.shown;
	const decoded = new Map();
	const cells = (i) => decoded.get(i) || (decoded.set(i, cellsOf(data.cases[i].cells)), decoded.get(i));

	function drawCase(u) {
		const { ctx } = u;
		ctx.save();
		ctx.lineWidth = devicePixelRatio;
		ctx.strokeStyle = css("--muted");
		ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
		for (const [of, before, after] of data.steps) {
			const x = u.valToPos((xs[before] + xs[after]) / 2, "x", true);
			if (of !== chosen || x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
			ctx.beginPath(); ctx.moveTo(x, u.bbox.top); ctx.lineTo(x, u.bbox.top + u.bbox.height); ctx.stroke();
		}
		ctx.setLineDash([]);
		ctx.lineWidth = 1.4 * devicePixelRatio;
		cells(chosen).forEach((c, i) => {
			const x = u.valToPos(xs[i], "x", true);
			if (!c || x < u.bbox.left - 1 || x > u.bbox.left + u.bbox.width + 1) return;
			ctx.fillStyle = ctx.strokeStyle = css(`--k${c.kind}`);
			marker(ctx, c.kind, x, u.valToPos(c.seconds, "y", true));
		});
		ctx.restore();
	}
	function caseChart(id, height) {
		const scale = { distr: 3, range: (u, low, high) => (low === null ? [0.01, 1] : uPlot.rangeLog(low / 1.15, high * 1.15, 10, false)) };
		const series = [{}, { stroke: () => css("--line-strong"), width: 1.2, spanGaps: true, points: { show: false } },
			{ width: 0, points: { show: false } }];
		const list = cells(chosen).map((c) => (c ? c.seconds : null));
		return { id, options: options(id, height, scale, series, true, { drawClear: [(u) => drawTags(u, false)], draw: [drawCase] }),
			data: [xs, onLine(list), list] };
	}

	const linear = (whole) => ({ whole,
		range: (u, low, high) => (low === null ? [0, 1] : low === high ? [Math.max(0, low - 1), high + 1] : uPlot.rangeNum(low, high, 0.1, true)) });
	/* A logarithmic axis where the values differ by much. */
	function secondsScale(list) {
		const known = list.filter((v) => v !== null && v > 0);
		if (known.length && Math.max(...known) > 8 * Math.min(...known))
			return { distr: 3, range: (u, low, high) => uPlot.rangeLog(low / 1.1, high * 1.1, 10, false) };
		return linear(false);
	}

	function rebuild() {
		for (const c of charts) c.plot.destroy();
		charts.length = 0;
		xs = places();
		const list = [setChart("plot-solved", 150, data.set.solved, "--k0", linear(true), false, true),
			setChart("plot-par2", 150, data.set.par2, "--k1", secondsScale(data.set.par2), false, false)];
		if (data.cases.length) list.push(caseChart("plot-case", 210));
		for (const c of list) {
			const element = document.getElementById(c.id);
			charts.push({ id: c.id, element, plot: new uPlot(c.options, c.data, element) });
		}
		tell(null);
	}

	/* -- what the pointer is at ---------------------------------------------------------------------------------------- */

	let at = columns.length - 1;
	const plainTitle = (c) => (c.tags ? `${c.tags.join(", ")} · ` : "");
	function tell(u) {
		const index = u && u.cursor.idx;
		if (u && (index === null || index === undefined)) return;
		if (u) at = index;
		const c = columns[at], sha = make(isHome ? "a" : "span", isHome ? { href: `${data.folder}${c.sha}/` } : {}, c.sha.slice(0, 12));
		sha.className = "sha";
		const facts = [`${c.measured} of ${data.set.total} measured`];
		if (data.set.solved[at] !== null) facts.push(`${data.set.solved[at]} solved`, `PAR-2 ${seconds(data.set.par2[at])}`);
		const one = data.cases.length && cells(chosen)[at];
		readout.replaceChildren(plainTitle(c), sha, ` · ${c.date} · ${c.subject}`, make("br"), facts.join(" · "),
			one ? ` · case ${data.cases[chosen].id}: ${data.kinds[one.kind]}, ${seconds(one.seconds)}` : "");
	}
	function moveTo(index) {
		at = Math.min(Math.max(index, 0), columns.length - 1);
		const u = charts[0].plot;
		if (xs[at] < u.scales.x.min || xs[at] > u.scales.x.max) zoom(1, xs[at]);
		for (const c of charts) c.plot.setCursor({ left: c.plot.valToPos(xs[at], "x"), top: 10 }, false);
		tell(null);
	}

	/* -- zoom ------------------------------------------------------------------------------------------------------- */

	function setRange(min, max) {
		charts[0].plot.setScale("x", { min, max });
	}
	function zoom(factor, centre) {
		const { min, max } = charts[0].plot.scales.x, middle = centre === undefined ? (min + max) / 2 : centre, half = ((max - min) * factor) / 2;
		setRange(middle - half, middle + half);
	}
	const shift = (share) => { const { min, max } = charts[0].plot.scales.x, by = (max - min) * share; setRange(min + by, max + by); };
	const whole = () => setRange(...xRange(null, null, null));

	const actions = { in: () => zoom(0.5), out: () => zoom(2), left: () => shift(-0.3), right: () => shift(0.3), all: whole };
	for (const button of all("button[data-zoom]", box)) button.addEventListener("click", actions[button.dataset.zoom]);
	box.querySelector("select.by").addEventListener("change", (e) => { byDate = e.target.value === "date"; rebuild(); });

	const keys = { ArrowLeft: () => moveTo(at - 1), ArrowRight: () => moveTo(at + 1), Home: () => moveTo(0), End: () => moveTo(columns.length - 1),
		"+": actions.in, "=": actions.in, "-": actions.out, 0: whole, Escape: whole };
	for (const e of all(".plot", box))
		e.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
			event.preventDefault();
			keys[event.key]();
		});

	/* Two fingers zoom; one scrolls the page, and a tap shows the commit there. */
	for (const e of all(".plot", box)) {
		let began = null;
		const spread = (t) => Math.abs(t[0].clientX - t[1].clientX);
		e.addEventListener("touchstart", (event) => {
			const { min, max } = charts[0].plot.scales.x;
			began = event.touches.length === 2 ? { spread: Math.max(spread(event.touches), 20), min, max } : null;
		}, { passive: true });
		e.addEventListener("touchmove", (event) => {
			if (!began || event.touches.length !== 2) return;
			event.preventDefault();
			const half = ((began.max - began.min) / 2) * (began.spread / Math.max(spread(event.touches), 20)), middle = (began.min + began.max) / 2;
			setRange(middle - half, middle + half);
		}, { passive: false });
	}

	/* -- which case --------------------------------------------------------------------------------------------------- */

	const field = box.querySelector("input.case"), title = box.querySelector(".case-name");
	const label = (i) => `${data.cases[i].id} ${data.cases[i].name}`;
	function choose(i) {
		chosen = (i + data.cases.length) % data.cases.length;
		field.value = label(chosen);
		title.textContent = data.cases[chosen].name;
		const { min, max } = charts.length ? charts[0].plot.scales.x : {};
		const old = charts.findIndex((c) => c.id === "plot-case");
		if (old >= 0) {
			const list = cells(chosen).map((c) => (c ? c.seconds : null));
			charts[old].plot.setData([xs, onLine(list), list], false);
			charts[old].plot.redraw(true, true);
			shared = true;
			charts[old].plot.setScale("x", { min, max });
			shared = false;
		}
		for (const b of all("button.spark")) b.setAttribute("aria-pressed", String(Number(b.dataset.case) === chosen));
		if (charts.length) tell(null);
	}
	function chooseByText() {
		const text = field.value.trim().toLowerCase();
		let i = data.cases.findIndex((c, k) => label(k).toLowerCase() === text || String(c.id) === text || c.name.toLowerCase() === text);
		if (i < 0 && text) i = data.cases.findIndex((c, k) => label(k).toLowerCase().includes(text));
		if (i >= 0) choose(i);
	}
	if (data.cases.length) {
		const list = box.querySelector("datalist");
		for (let i = 0; i < data.cases.length; i++) list.append(make("option", { value: label(i) }));
		field.addEventListener("change", chooseByText);
		field.addEventListener("focus", () => field.select());
		box.querySelector("button.previous").addEventListener("click", () => choose(chosen - 1));
		box.querySelector("button.next").addEventListener("click", () => choose(chosen + 1));
		for (const cell of all("td[data-case]")) {
			const i = Number(cell.dataset.case);
			const button = make("button", { type: "button", class: "spark", "data-case": i, "aria-label": `Plot case ${data.cases[i].id}` }, spark(cells(i)));
			button.addEventListener("click", () => { choose(i); document.getElementById("history").scrollIntoView({ behavior: "smooth" }); });
			cell.append(button);
		}
	}

	box.hidden = false;
	rebuild();
	if (data.cases.length) choose(chosen);
	new ResizeObserver(() => {
		for (const c of charts) if (c.element.clientWidth && c.plot.width !== c.element.clientWidth) c.plot.setSize({ width: c.element.clientWidth, height: c.plot.height });
	}).observe(box);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.plot.redraw()));
})();
