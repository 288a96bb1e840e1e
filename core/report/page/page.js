/* What a page of solverfs does beyond being read: tables that are sorted and searched, and plots that are zoomed. Without it the page shows all its
 * tables, and its other pictures. It takes nothing from the network, and nothing that it shows is ever taken for markup. html.h says what it reads. */
"use strict";
(() => {
	const all = (selector, within = document) => [...within.querySelectorAll(selector)];
	const fill = (e, attributes, children) => {
		for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
		e.append(...children);
		return e;
	};
	const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
	const svg = (name, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

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

	/* -- pictures ---------------------------------------------------------------------------------------------------- */

	const px = (v) => v.toFixed(1);
	/* A line through points, or steps along them. */
	const lineOf = (points, isStep) => points.map(([x, y], i) => (!i ? `M${px(x)} ${px(y)}` : isStep ? `H${px(x)}V${px(y)}` : `L${px(x)} ${px(y)}`)).join("");
	/* The same shape at each of them. */
	const marks = (points, shape) => points.map(([x, y]) => `M${px(x)} ${px(y)}${shape}`).join("");
	const SHAPES = [ /* of how a run ended; the key below the plots has them, too */
		"m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z", "m-3-3h6v6h-6z", "m0-4 3.7 6.8h-7.4z", "m0-4.4 4 4.4-4 4.4-4-4.4z", "m0 4 3.7-6.8h-7.4z",
		"m-3.4-3.4 6.8 6.8m0-6.8-6.8 6.8",
	];
	const DOT = "m-2.3 0a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0-4.6 0z";
	const extremes = (list) => [Math.min(...list), Math.max(...list)];
	/* The logarithms of both ends, at least two doublings apart: noise is to look flat. */
	function logRange(low, high) {
		const middle = (Math.log(low) + Math.log(high)) / 2, half = Math.max(Math.log(high / low) / 2 + 0.1, Math.log(2));
		return [middle - half, middle + half];
	}

	/* In the row of a case: its times along first parents, and how the last run ended. */
	function spark(cells) {
		const W = 120, H = 20, picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" });
		const known = cells.map((c, i) => [i, c]).filter(([i, c]) => c && columns[i].on_line);
		if (!known.length) return picture;
		const [low, high] = logRange(...extremes(known.map(([, c]) => c.seconds)));
		const points = known.map(([i, c]) => [2 + ((W - 4) * i) / Math.max(columns.length - 1, 1), H - 3 - ((H - 6) * (Math.log(c.seconds) - low)) / (high - low)]);
		picture.append(svg("path", { d: lineOf(points, true) }), svg("path", { d: marks(points.slice(-1), DOT), class: `fill k${known[known.length - 1][1].kind}` }));
		return picture;
	}

	/* -- ticks: [value, label], at most about `most` of them --------------------------------------------------------- */

	const tidy = (v) => (v >= 1e4 || (v && v < 1e-3) ? v.toExponential(0) : String(+v.toPrecision(6)));
	const between = (low, high, step) => Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, i) => (Math.ceil(low / step) + i) * step);
	const roundUp = (v) => [1, 2, 5, 10].map((d) => d * 10 ** Math.floor(Math.log10(v))).find((s, i) => s >= v || i === 3);

	function ticks(low, high, most) {
		return between(low, high, roundUp((high - low) / most)).map((v) => [v, tidy(v)]);
	}
	function wholeTicks(low, high, most) {
		return between(low, high, Math.max(1, roundUp((high - low) / most))).map((v) => [v, String(v)]);
	}
	/* Of [log low, log high]: all digits of each power of ten, or some, or every n-th power. */
	function logTicks(low, high, most) {
		const powers = between(low / Math.LN10, high / Math.LN10 + 1, 1).map((k) => k - 1);
		const choices = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].map((digits) => powers.flatMap((k) => digits.map((d) => d * 10 ** k)));
		for (let n = 2; n < 8; n++) choices.push(powers.filter((k) => k % n === 0).map((k) => 10 ** k));
		const inside = choices.map((list) => list.filter((v) => Math.log(v) >= low && Math.log(v) <= high));
		return (inside.find((list) => list.length <= most) || []).map((v) => [Math.log(v), tidy(v)]);
	}
	const DAY = 86400;
	function dateTicks(low, high, most) {
		const wanted = (high - low) / most, iso = (seconds) => new Date(seconds * 1000).toISOString().replace("T", " ");
		const step = [60, 300, 1800, 3600, 3 * 3600, 12 * 3600, DAY, 2 * DAY, 7 * DAY, 14 * DAY].find((s) => s >= wanted);
		if (step) return between(low, high, step).map((v) => [v, step < DAY ? iso(v).slice(5, 16) : iso(v).slice(0, 10)]);
		const months = [1, 3, 6, 12, 24, 60, 120].find((m) => m * 30.4 * DAY >= wanted) || 240;
		const since1970 = (v) => (new Date(v * 1000).getUTCFullYear() - 1970) * 12 + new Date(v * 1000).getUTCMonth();
		return between(since1970(low), since1970(high), months).map((m) => Date.UTC(1970, m) / 1000).filter((v) => v >= low)
			.map((v) => [v, iso(v).slice(0, months < 12 ? 7 : 4)]);
	}

	/* -- plots --------------------------------------------------------------------------------------------------------- */

	const box = document.getElementById("history-plots"), readout = box.querySelector(".readout");
	let byDate = false, xs, range; /* the x of each column; what is shown of them */
	let at = columns.length - 1; /* the column that is told of */
	let chosen = data.shown;
	const decoded = new Map();
	const cells = (i) => decoded.get(i) || (decoded.set(i, cellsOf(data.cases[i].cells)), decoded.get(i));

	/* The place in the history, or the date, which must not go back; and some room on both sides. */
	function whole() {
		const first = xs[0], last = xs[xs.length - 1], half = Math.max(last - first, byDate ? 3600 : 2) * 0.52;
		show((first + last) / 2 - half, (first + last) / 2 + half);
	}
	function setUpX(isByDate) {
		let last = -Infinity;
		byDate = isByDate;
		xs = columns.map((c) => (last = Math.max(last, byDate ? c.time : c.place)));
		whole();
	}

	/* Steps along the line of first parents, from one commit to the next where the same cases were run. */
	const stepsOf = (points) => points.map((p, i) => (!p || !columns[i].on_line ? "" : columns[i].is_comparable ? `H${px(p[0])}V${px(p[1])}` : `M${px(p[0])} ${px(p[1])}`)).join("");

	/* What a plot shows of the columns: `values` (null: not known), as the paths that `paths` makes of their points. Where they differ much, and no
	 * `tick` is given, the scale is one of logarithms. `most`: what they cannot be more than. */
	const setPlot = (colour, values, most) => ({
		height: 150, values: () => values, most,
		paths: (points, x, top, bottom, limits) => {
			const line = points.filter((p, i) => columns[i].on_line), lone = points.filter((p, i) => columns[i].on_line && !columns[i].is_comparable && !(columns[i + 1] || {}).is_comparable);
			return [svg("path", { d: lineOf(limits.filter((p, i) => columns[i].on_line), true), class: "most" }), svg("path", { d: stepsOf(points), class: `line ${colour}` }),
				svg("path", { d: marks(line.length <= 60 ? line : lone, DOT), class: `fill ${colour}` }),
				svg("path", { d: marks(points.filter((p, i) => !columns[i].on_line), SHAPES[0]), class: `ring ${colour}` })];
		},
	});
	const plots = [{ id: "plot-solved", hasTags: true, tick: wholeTicks, ...setPlot("k0", data.set.solved, columns.map((c) => c.measured)) },
		{ id: "plot-par2", ...setPlot("k1", data.set.par2, []) }];
	if (data.cases.length)
		plots.push({
			id: "plot-case", height: 220, hasX: true, isLog: true, values: () => cells(chosen).map((c) => (c ? c.seconds : null)),
			paths: (points, x, top, bottom) => [
				svg("path", { d: data.steps.filter(([of]) => of === chosen).map(([, a, b]) => `M${px(x((xs[a] + xs[b]) / 2))} ${top}V${bottom}`).join(""), class: "step" }),
				svg("path", { d: lineOf(points.filter((p, i) => p && columns[i].on_line)), class: "thin" }),
				...SHAPES.map((shape, kind) => svg("path", { d: marks(points.filter((p, i) => p && cells(chosen)[i].kind === kind), shape), class: `fill k${kind}` }))],
		});
	for (const plot of plots) plot.element = document.getElementById(plot.id);

	/* Upright lines at tags, and their names as far as there is room. */
	function tagsOf(plot, x, left, right, top, bottom) {
		const lines = [], names = [];
		let taken = -Infinity;
		columns.forEach((c, i) => {
			const at = x(xs[i]);
			if (!c.tags || at < left || at > right) return;
			lines.push(`M${px(at)} ${top}V${bottom}`);
			const width = c.tags[0].length * 6.2, from = Math.min(Math.max(at - width / 2, left), right - width);
			if (!plot.hasTags || from < taken) return;
			names.push(svg("text", { x: px(from), y: top - 5 }, c.tags[0]));
			taken = from + width + 8;
		});
		return [svg("path", { d: lines.join(""), class: "grid" }), ...names];
	}

	function paint(plot) {
		const width = plot.element.clientWidth, left = 46, right = width - 8, top = plot.hasTags ? 18 : 8, bottom = plot.height - (plot.hasX ? 22 : 6);
		if (right <= left) return;
		const values = plot.values(), limits = plot.most || [], known = values.filter((v) => v !== null).concat(limits), [least, most] = known.length ? extremes(known) : [1, 1];
		const isLog = least > 0 && (plot.isLog || (!plot.tick && most > 8 * least)), room = (most - least) * 0.08 || (plot.tick ? 1 : most / 2 || 1);
		const [low, high] = isLog ? logRange(least, most) : [Math.max(least - room, Math.min(0, least)), most + room];
		const x = (v) => left + ((right - left) * (v - range[0])) / (range[1] - range[0]);
		const y = (v) => bottom - ((bottom - top) * ((isLog ? Math.log(v) : v) - low)) / (high - low), yOf = (t) => bottom - ((bottom - top) * (t - low)) / (high - low);
		const across = (plot.tick || (isLog ? logTicks : ticks))(low, high, (bottom - top) / 26), up = (byDate ? dateTicks : wholeTicks)(...range, (right - left) / 85);
		const pointOf = (v, i) => (v === null ? null : [x(xs[i]), y(v)]), points = values.map(pointOf), size = { x: left, y: top, width: right - left, height: bottom - top };
		plot.cursor = svg("path", { class: "cursor" });
		plot.dot = svg("path", { class: "dot" });
		plot.drag = svg("rect", { y: top, height: bottom - top, class: "drag" });
		plot.at = (i) => (xs[i] < range[0] || xs[i] > range[1] ? ["", ""] : [`M${px(x(xs[i]))} ${top}V${bottom}`, points[i] ? marks([points[i]], SHAPES[0]) : ""]);
		plot.x = (pixel) => range[0] + ((range[1] - range[0]) * (pixel - left)) / (right - left);
		plot.element.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${plot.height}`, height: plot.height },
			svg("path", { d: up.map(([v]) => `M${px(x(v))} ${top}V${bottom}`).join("") + across.map(([v]) => `M${left} ${px(yOf(v))}H${right}`).join(""), class: "grid" }),
			...across.map(([v, label]) => svg("text", { x: left - 6, y: px(yOf(v) + 4), class: "end" }, label)),
			...(plot.hasX ? up.map(([v, label]) => svg("text", { x: px(x(v)), y: bottom + 16, class: "middle" }, label)) : []),
			...tagsOf(plot, x, left, right, top, bottom),
			svg("svg", { ...size, viewBox: `${left} ${top} ${right - left} ${bottom - top}` }, plot.cursor, ...plot.paths(points, x, top, bottom, limits.map(pointOf)), plot.dot, plot.drag)));
	}
	function paintAll() {
		plots.forEach(paint);
		tell();
	}

	/* -- what the pointer is at ---------------------------------------------------------------------------------------- */

	function tell() {
		const c = columns[at], sha = make(isHome ? "a" : "span", isHome ? { href: `${data.folder}${c.sha}/` } : {}, c.sha.slice(0, 12));
		sha.className = "sha";
		const facts = [`solved ${data.set.solved[at]} of ${c.measured} run, of ${data.set.total} cases`, `PAR-2 of those run ${seconds(data.set.par2[at])}`];
		const one = data.cases.length && cells(chosen)[at];
		readout.replaceChildren(c.tags ? `${c.tags.join(", ")} · ` : "", sha, ` · ${c.date} · ${c.subject}`, make("br"), facts.join(" · "),
			one ? ` · case ${data.cases[chosen].id}: ${data.kinds[one.kind]}, ${seconds(one.seconds)}` : "");
		for (const plot of plots) {
			if (!plot.at) continue;
			const [line, dot] = plot.at(at);
			plot.cursor.setAttribute("d", line);
			plot.dot.setAttribute("d", dot);
		}
	}
	function tellOf(index) {
		at = Math.min(Math.max(index, 0), columns.length - 1);
		tell();
	}
	function nearest(x) {
		let best = 0;
		xs.forEach((v, i) => { if (Math.abs(v - x) < Math.abs(xs[best] - x)) best = i; });
		return best;
	}

	/* -- zoom ------------------------------------------------------------------------------------------------------- */

	function show(from, to) {
		range = [from, to];
		paintAll();
	}
	function zoom(factor, middle = (range[0] + range[1]) / 2) {
		const half = ((range[1] - range[0]) * factor) / 2;
		show(middle - half, middle + half);
	}
	function moveTo(index) {
		tellOf(index);
		if (xs[at] < range[0] || xs[at] > range[1]) zoom(1, xs[at]);
	}
	const shift = (share) => zoom(1, (range[0] + range[1]) / 2 + (range[1] - range[0]) * share);

	const actions = { in: () => zoom(0.5), out: () => zoom(2), left: () => shift(-0.3), right: () => shift(0.3), all: whole };
	for (const button of all("button[data-zoom]", box)) button.addEventListener("click", actions[button.dataset.zoom]);
	box.querySelector("select.by").addEventListener("change", (e) => setUpX(e.target.value === "date"));

	const keys = { ArrowLeft: () => moveTo(at - 1), ArrowRight: () => moveTo(at + 1), Home: () => moveTo(0), End: () => moveTo(columns.length - 1),
		"+": actions.in, "=": actions.in, "-": actions.out, 0: whole, Escape: whole };

	/* A mouse drags a range; two fingers zoom, one scrolls the page and tells of the commit there. */
	for (const plot of plots) {
		const { element } = plot, down = new Map(); /* pixels, of each pointer that is down */
		let began;
		const pixel = (event) => event.clientX - element.getBoundingClientRect().left;
		const spread = () => Math.max(20, Math.abs([...down.values()].reduce((a, b) => a - b)));
		element.addEventListener("pointerdown", (event) => {
			if (event.button) return;
			down.set(event.pointerId, pixel(event));
			began = down.size === 2 ? { spread: spread(), span: range[1] - range[0], middle: (range[0] + range[1]) / 2 } : pixel(event);
			if (event.isTrusted) element.setPointerCapture(event.pointerId);
			tellOf(nearest(plot.x(pixel(event))));
		});
		element.addEventListener("pointermove", (event) => {
			const to = pixel(event), isDown = down.has(event.pointerId);
			if (isDown) down.set(event.pointerId, to);
			if (down.size === 2) {
				const half = (began.span * began.spread) / spread() / 2;
				show(began.middle - half, began.middle + half);
				return;
			}
			tellOf(nearest(plot.x(to)));
			if (!isDown || event.pointerType === "touch") return;
			plot.drag.setAttribute("x", Math.min(began, to));
			plot.drag.setAttribute("width", Math.abs(to - began));
		});
		const up = (event) => {
			const to = pixel(event), isDrag = down.size === 1 && down.has(event.pointerId) && event.pointerType !== "touch" && Math.abs(to - began) > 4;
			down.delete(event.pointerId);
			if (isDrag && event.type === "pointerup") show(plot.x(Math.min(began, to)), plot.x(Math.max(began, to)));
		};
		for (const type of ["pointerup", "pointercancel"]) element.addEventListener(type, up);
		element.addEventListener("dblclick", whole);
		element.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
			event.preventDefault();
			keys[event.key]();
		});
	}

	/* -- which case --------------------------------------------------------------------------------------------------- */

	const field = box.querySelector("input.case"), title = box.querySelector(".case-name");
	const label = (i) => `${data.cases[i].id} ${data.cases[i].name}`;
	function choose(i) {
		chosen = (i + data.cases.length) % data.cases.length;
		field.value = label(chosen);
		title.textContent = data.cases[chosen].name;
		paintAll();
		for (const b of all("button.spark")) b.setAttribute("aria-pressed", String(Number(b.dataset.case) === chosen));
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
	setUpX(false);
	if (data.cases.length) choose(chosen);
	let width = box.clientWidth;
	new ResizeObserver(() => {
		if (width === box.clientWidth) return;
		width = box.clientWidth;
		paintAll();
	}).observe(box);
})();
