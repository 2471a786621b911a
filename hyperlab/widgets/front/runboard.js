// Runs side by side: a table with a filter, their curves, and what each score costs.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F"];
const FORMS = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "star", "x", "hexagon"];
const DASHES = [null, "7 3", "2 3", "9 3 2 3"];
const STUDENT = [0, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26];  // 95 % of the mean of 2, 3, … runs

// Mean over runs, and half the width of its 95 % interval where there are several
function spreadOf(values) {
  const n = values.length, mean = values.reduce((t, v) => t + v, 0) / n;
  const sd = n > 1 ? Math.sqrt(values.reduce((t, v) => t + (v - mean) ** 2, 0) / (n - 1)) : null;
  return { n, mean, half: sd == null ? null : (STUDENT[Math.min(n - 1, 9)] * sd) / Math.sqrt(n) };
}

function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "runs", "Runs", "");
  let chosen = new Set(model.get("rows").map((r) => r.run)), filter = "", sort = ["run", 1];
  let measure = model.get("measures")[0] ?? "loss", cost = "trained", together = false;
  const settings = { method: "", backbone: "" };
  const table = h("div", { class: "hl-scroll" }), curves = h("div"), front = h("div"), tools = h("div", { class: "hl-row" });
  const rows = () => model.get("rows").filter((r) => Object.entries(settings).every(([key, value]) => !value || r[key] === value) && filter.trim().split(/\s+/).every((w) => JSON.stringify(Object.values(r)).toLowerCase().includes(w.toLowerCase())));
  const methods = () => [...new Set(model.get("rows").map((r) => r.method))].sort();
  const colour = (method) => PALETTE[methods().indexOf(method) % PALETTE.length], form = (method) => FORMS[methods().indexOf(method) % FORMS.length];
  const alike = (r) => `${r.method}|${r.backbone}|${r.setting}`;
  const grouped = (list) => Object.values(list.reduce((groups, r) => { (groups[alike(r)] ??= []).push(r); return groups; }, {}));
  const COLUMNS = [["run", "run"], ["method", "method"], ["backbone", "backbone"], ["count", "tasks", 1], ["seed", "seed", 1], ["step", "step", 1], ["score", "score", 1], ["trained", "trained", 1], ["memory", "memory, MB", 1], ["seconds", "time, s", 1]];
  const COSTS = { trained: "trained parameters", percent: "trained per task, % of the backbone", memory: "peak memory, MB", seconds: "time, seconds" };

  function drawTable() {
    const list = rows().sort((p, q) => ((p[sort[0]] ?? -Infinity) > (q[sort[0]] ?? -Infinity) ? sort[1] : -sort[1]));
    const box = (r) => h("input", { type: "checkbox", checked: chosen.has(r.run), "aria-label": `show ${r.run}`, onchange: (e) => { if (e.target.checked) chosen.add(r.run); else chosen.delete(r.run); drawCurves(); drawFront(); } });
    const head = ([key, title, number]) => h("th", { class: number ? "hl-number" : "", "aria-sort": sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : "none" }, h("button", { onclick: () => { sort = [key, sort[0] === key ? -sort[1] : 1]; drawTable(); } }, title));
    const show = (r, key) => (key === "method" ? [glyph(form(r.method), colour(r.method)), ` ${r.method}`] : typeof r[key] === "number" ? (key === "score" ? r[key].toFixed(1) : short(r[key])) : r[key] ?? "–");
    clear(table, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, ""), COLUMNS.map(head))), h("tbody", {}, list.map((r) => h("tr", { "data-run": r.run }, h("td", {}, box(r)), COLUMNS.map(([key, , number]) => h("td", { class: number ? "hl-number" : "" }, show(r, key))))))));
    sub.textContent = `${list.length} of ${model.get("rows").length} runs` + (model.get("folder") ? ` in ${model.get("folder")}` : "") + ". Tick runs to draw them; filter by any word.";
  }

  const drawCurves = fitted(curves, (width) => {
    const height = 240, lines = rows().filter((r) => chosen.has(r.run)).map((r) => ({ r, points: model.get("curves")[r.run]?.[measure] ?? [] })).filter((l) => l.points.length);
    if (!lines.length) return clear(curves, h("p", { class: "hl-note" }, "No ticked run has this curve."));
    const xs = extent(lines.flatMap((l) => l.points.map((p) => p[0]))), ys = extent(lines.flatMap((l) => l.points.map((p) => p[1])));
    const { X, Y, group } = axes(width, height, xs, ys, { xTitle: "update", yTitle: measure });
    const drawn = together ? grouped(lines.map((l) => l.r)).flatMap((list) => averaged(list, X, Y, ys)) : single(lines, X, Y);
    clear(curves, h("h4", {}, `${measure} over training${together ? ", mean over seeds" : ""}`), s("svg", { width, height, role: "img", "aria-label": `${measure} over training of ${lines.length} runs` }, group, drawn),
      h("ul", { class: "hl-legend" }, [...new Set(lines.map((l) => l.r.method))].map((m) => h("li", {}, glyph(form(m), colour(m)), m)), h("li", {}, together ? "bands: 95 % interval of the mean over seeds, where there are several" : "dashes tell runs of a method apart")));
  });
  const ending = (method, x, y) => marker(form(method), x, y, 4, colour(method));
  function single(lines, X, Y) {
    const seen = {};
    return lines.map(({ r, points }) => {
      const number = (seen[r.method] = (seen[r.method] ?? -1) + 1), [x, y] = points.at(-1);
      const path = polyline(points.map(([x, y]) => [X(x), Y(y)]), { stroke: colour(r.method), "stroke-width": 1.8, "stroke-dasharray": DASHES[number % DASHES.length], "data-run": r.run });
      return s("g", {}, path, ending(r.method, X(x), Y(y)), s("title", {}, `${r.run}: ${short(y)} at the end`));
    });
  }
  function averaged(list, X, Y, [low, high]) {
    const found = list.map((r) => new Map(model.get("curves")[r.run]?.[measure] ?? [])).filter((m) => m.size);
    const points = [...found[0].keys()].filter((x) => found.every((m) => m.has(x))).map((x) => ({ x, ...spreadOf(found.map((m) => m.get(x))) })), method = list[0].method;
    if (!points.length) return [];
    const edge = (p, way) => `${X(p.x).toFixed(1)} ${Y(Math.min(high, Math.max(low, p.mean + way * p.half))).toFixed(1)}`;  // two seeds may be as wide as the plot
    const band = points[0].half == null ? null : s("path", { fill: colour(method), opacity: 0.18, "data-band": method, d: "M" + [...points.map((p) => edge(p, 1)), ...points.toReversed().map((p) => edge(p, -1))].join("L") + "Z" });
    const last = points.at(-1);
    return [band, polyline(points.map((p) => [X(p.x), Y(p.mean)]), { stroke: colour(method), "stroke-width": 2 }), ending(method, X(last.x), Y(last.mean))].filter(Boolean);
  }

  const drawFront = fitted(front, (width) => {
    const done = rows().filter((r) => chosen.has(r.run) && r.score != null && r[cost] != null), height = 270;
    const spots = grouped(done).map((list) => {
      const { n, mean: score, half } = spreadOf(list.map((r) => r.score));
      return { name: list[0].method, n, score, half, cost: spreadOf(list.map((r) => r[cost])).mean, memory: spreadOf(list.map((r) => r.memory ?? 1)).mean };
    });
    if (!spots.length) return clear(front, h("p", { class: "hl-note" }, "No finished run is ticked."));
    const ys = extent(spots.flatMap((p) => [p.score - Math.min(p.half ?? 1, 25), p.score + Math.min(p.half ?? 1, 25)])), costs = extent(spots.map((p) => p.cost)), wide = [costs[0] / 1.6, costs[1] * 1.6];
    const { X, Y, group } = axes(width, height, wide, ys, { xTitle: `${COSTS[cost]} (log scale)`, yTitle: "score, mean over tasks", log: true });
    const best = [...spots].sort((p, q) => p.cost - q.cost || q.score - p.score).filter((p, i, all) => all.slice(0, i).every((q) => q.score < p.score)), most = Math.max(...spots.map((p) => p.memory));
    const taken = spots.map((p) => ({ x: X(p.cost) - 9, y: Y(p.score) - 9, w: 18, h: 18 }));
    const labels = placeNames(spots.map((p) => ({ x: X(p.cost), y: Y(p.score), text: p.n > 1 ? `${p.name} (${p.n})` : p.name })), width, height, taken);
    const steps = best.flatMap((p, i) => (i ? [[X(p.cost), Y(best[i - 1].score)], [X(p.cost), Y(p.score)]] : [[X(p.cost), Y(p.score)]]));
    clear(front, h("h4", {}, "What a score costs"), s("svg", { width, height, role: "img", "aria-label": "score over cost" }, group, polyline(steps, { stroke: "currentColor", "stroke-width": 1, "stroke-dasharray": "3 3", opacity: 0.6 }),
      spots.map((p) => s("g", {}, p.half != null ? s("line", { x1: X(p.cost), x2: X(p.cost), y1: Y(Math.max(ys[0], p.score - p.half)), y2: Y(Math.min(ys[1], p.score + p.half)), stroke: colour(p.name), "stroke-width": 2 }) : null,
        fill(marker(form(p.name), X(p.cost), Y(p.score), 4 + 7 * Math.sqrt(p.memory / most), colour(p.name)), { opacity: 0.75 }, [s("title", {}, `${p.name}: ${p.score.toFixed(1)}${p.half != null ? ` ± ${p.half.toFixed(1)}` : ""}, ${short(p.cost)} ${COSTS[cost]}, ${short(p.memory)} MB`)]))),
      labels.map((l) => l && s("text", { x: l.x, y: l.y }, l.text))), h("p", { class: "hl-note" }, "Bars: 95 % interval of the mean over seeds, where there are several. Area: memory. Dashed: nothing cheaper is better."));
  });
  function placeNames(spots, width, height, taken) {
    return spots.map(({ x, y, text }) => {
      const w = text.length * 6.3 + 4;
      for (const [dx, dy] of [[14, -7], [-14 - w, -7], [-w / 2, -30], [-w / 2, 16], [14, -24], [14, 10]]) {
        const b = { x: x + dx, y: y + dy, w, h: 14 };
        if (b.x > 2 && b.x + w < width && b.y > 2 && b.y + 14 < height - 34 && taken.every((t) => b.x + b.w < t.x || t.x + t.w < b.x || b.y + b.h < t.y || t.y + t.h < b.y)) { taken.push(b); return { x: b.x + 2, y: b.y + 11, text }; }
      }
      return null;
    });
  }

  function all() {
    if (!model.get("rows").length) { clear(body, h("p", {}, model.get("about"))); sub.textContent = ""; return; }
    const search = h("input", { type: "search", size: 26, placeholder: "filter: method, task, seed …", "aria-label": "filter runs", value: filter, oninput: () => { filter = search.value; drawTable(); drawCurves(); drawFront(); } });
    search.addEventListener("keydown", (e) => e.stopPropagation());
    const only = (key) => { const names = [...new Set(model.get("rows").map((r) => r[key]))].sort(); return names.length > 1 ? choice(`only this ${key}`, [["", `every ${key}`], ...names], settings[key], (v) => { settings[key] = v; drawTable(); drawCurves(); drawFront(); }) : null; };
    clear(tools, search, only("method"), only("backbone"), choice("curves", [["", "each run"], ["mean", "mean over seeds"]], together ? "mean" : "", (v) => { together = Boolean(v); drawCurves(); }), choice("curve", model.get("measures"), measure, (v) => { measure = v; drawCurves(); }), choice("cost", Object.entries(COSTS).map(([k, t]) => [k, `against ${t}`]), cost, (v) => { cost = v; drawFront(); }),
      h("button", { class: "hl-live", onclick: () => kernel.ask({ again: true }) }, "Look again"));
    clear(body, tools, table, h("div", { class: "hl-columns", style: "margin-top:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr))" }, curves, front));
    drawTable(); drawCurves(); drawFront();
  }
  model.on("change:rows", () => { for (const r of model.get("rows")) chosen.add(r.run); all(); });
  all();
}
export default { render };
