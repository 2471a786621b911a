// Runs side by side: a table with a filter, their curves, and what each score costs.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F"];
const DASHES = [null, "7 3", "2 3", "9 3 2 3"];

function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "runs", "Runs", "");
  let chosen = new Set(model.get("rows").map((r) => r.run)), filter = "", sort = ["run", 1];
  let measure = model.get("measures")[0] ?? "loss", cost = "trained";
  const table = h("div", { class: "hl-scroll" }), curves = h("div"), front = h("div"), tools = h("div", { class: "hl-row" });
  const rows = () => model.get("rows").filter((r) => filter.trim().split(/\s+/).every((w) => JSON.stringify(Object.values(r)).toLowerCase().includes(w.toLowerCase())));
  const methods = () => [...new Set(model.get("rows").map((r) => r.method))].sort();
  const colour = (method) => PALETTE[methods().indexOf(method) % PALETTE.length];
  const COLUMNS = [["run", "run"], ["method", "method"], ["backbone", "backbone"], ["count", "tasks", 1], ["seed", "seed", 1], ["step", "step", 1], ["score", "score", 1], ["trained", "trained", 1], ["memory", "memory, MB", 1], ["seconds", "time, s", 1]];
  const COSTS = { trained: "trained parameters", percent: "trained per task, % of the backbone", memory: "peak memory, MB", seconds: "time, seconds" };

  function drawTable() {
    const list = rows().sort((p, q) => ((p[sort[0]] ?? -Infinity) > (q[sort[0]] ?? -Infinity) ? sort[1] : -sort[1]));
    const box = (r) => h("input", { type: "checkbox", checked: chosen.has(r.run), "aria-label": `show ${r.run}`, onchange: (e) => { if (e.target.checked) chosen.add(r.run); else chosen.delete(r.run); drawCurves(); drawFront(); } });
    const head = ([key, title, number]) => h("th", { class: number ? "hl-number" : "", "aria-sort": sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : "none" }, h("button", { onclick: () => { sort = [key, sort[0] === key ? -sort[1] : 1]; drawTable(); } }, title));
    const show = (r, key) => (key === "method" ? [fill(h("span", { class: "hl-dot" }), { style: `--dot:${colour(r.method)};margin-right:6px` }, []), r.method] : typeof r[key] === "number" ? (key === "score" ? r[key].toFixed(1) : short(r[key])) : r[key] ?? "–");
    clear(table, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, ""), COLUMNS.map(head))), h("tbody", {}, list.map((r) => h("tr", { "data-run": r.run }, h("td", {}, box(r)), COLUMNS.map(([key, , number]) => h("td", { class: number ? "hl-number" : "" }, show(r, key))))))));
    sub.textContent = `${list.length} of ${model.get("rows").length} runs` + (model.get("folder") ? ` in ${model.get("folder")}` : "") + ". Tick runs to draw them; filter by any word.";
  }

  const drawCurves = fitted(curves, (width) => {
    const height = 240, lines = rows().filter((r) => chosen.has(r.run)).map((r) => ({ r, points: model.get("curves")[r.run]?.[measure] ?? [] })).filter((l) => l.points.length);
    if (!lines.length) return clear(curves, h("p", { class: "hl-note" }, "No ticked run has this curve."));
    const xs = extent(lines.flatMap((l) => l.points.map((p) => p[0]))), ys = extent(lines.flatMap((l) => l.points.map((p) => p[1])));
    const { X, Y, group } = axes(width, height, xs, ys, { xTitle: "update", yTitle: measure });
    const seen = {};
    clear(curves, h("h4", {}, `${measure} over training`), s("svg", { width, height, role: "img", "aria-label": `${measure} over training of ${lines.length} runs` }, group,
      lines.map(({ r, points }) => {
        const number = (seen[r.method] = (seen[r.method] ?? -1) + 1);
        const path = points.length > 1 ? polyline(points.map(([x, y]) => [X(x), Y(y)]), { stroke: colour(r.method), "stroke-width": 1.8, "stroke-dasharray": DASHES[number % DASHES.length] }) : s("circle", { cx: X(points[0][0]), cy: Y(points[0][1]), r: 4, fill: colour(r.method) });
        path.append(s("title", {}, `${r.run}: ${short(points.at(-1)[1])} at the end`));
        return path;
      })), h("ul", { class: "hl-legend" }, [...new Set(lines.map((l) => l.r.method))].map((m) => h("li", {}, fill(h("span", { class: "hl-dot" }), { style: `--dot:${colour(m)}` }, []), m)), h("li", {}, "dashes tell runs of a method apart")));
  });

  const drawFront = fitted(front, (width) => {
    const done = rows().filter((r) => chosen.has(r.run) && r.score != null && r[cost] != null), height = 270, groups = {};
    for (const r of done) (groups[`${r.method}|${r.backbone}|${r.setting}`] ??= []).push(r);
    const spots = Object.values(groups).map((list) => {
      const n = list.length, mean = (f) => list.reduce((t, r) => t + f(r), 0) / n, score = mean((r) => r.score), sd = n > 1 ? Math.sqrt(list.reduce((t, r) => t + (r.score - score) ** 2, 0) / (n - 1)) : null;
      const t = [0, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26][Math.min(n - 1, 9)];
      return { name: list[0].method, n, score, cost: mean((r) => r[cost]), memory: mean((r) => r.memory ?? 1), half: sd == null ? null : (t * sd) / Math.sqrt(n) };
    });
    if (!spots.length) return clear(front, h("p", { class: "hl-note" }, "No finished run is ticked."));
    const ys = extent(spots.flatMap((p) => [p.score - Math.min(p.half ?? 1, 25), p.score + Math.min(p.half ?? 1, 25)])), costs = extent(spots.map((p) => p.cost)), wide = [costs[0] / 1.6, costs[1] * 1.6];
    const { X, Y, group } = axes(width, height, wide, ys, { xTitle: `${COSTS[cost]} (log scale)`, yTitle: "score, mean over tasks", log: true });
    const best = [...spots].sort((p, q) => p.cost - q.cost || q.score - p.score).filter((p, i, all) => all.slice(0, i).every((q) => q.score < p.score)), most = Math.max(...spots.map((p) => p.memory));
    const taken = spots.map((p) => ({ x: X(p.cost) - 9, y: Y(p.score) - 9, w: 18, h: 18 }));
    const labels = placeNames(spots.map((p) => ({ x: X(p.cost), y: Y(p.score), text: p.n > 1 ? `${p.name} (${p.n})` : p.name })), width, height, taken);
    const steps = best.flatMap((p, i) => (i ? [[X(p.cost), Y(best[i - 1].score)], [X(p.cost), Y(p.score)]] : [[X(p.cost), Y(p.score)]]));
    clear(front, h("h4", {}, "What a score costs"), s("svg", { width, height, role: "img", "aria-label": "score over cost" }, group, polyline(steps, { stroke: "currentColor", "stroke-width": 1, "stroke-dasharray": "3 3", opacity: 0.6 }),
      spots.map((p) => s("g", {}, p.half != null ? s("line", { x1: X(p.cost), x2: X(p.cost), y1: Y(p.score - p.half), y2: Y(p.score + p.half), stroke: colour(p.name), "stroke-width": 2 }) : null,
        s("circle", { cx: X(p.cost), cy: Y(p.score), r: 4 + 9 * Math.sqrt(p.memory / most), fill: colour(p.name), opacity: 0.7, stroke: "var(--hl-card)" }, s("title", {}, `${p.name}: ${p.score.toFixed(1)}${p.half != null ? ` ± ${p.half.toFixed(1)}` : ""}, ${short(p.cost)} ${COSTS[cost]}, ${short(p.memory)} MB`)))),
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
    const search = h("input", { type: "search", placeholder: "filter: method, task, seed …", "aria-label": "filter runs", value: filter, oninput: () => { filter = search.value; drawTable(); drawCurves(); drawFront(); } });
    search.addEventListener("keydown", (e) => e.stopPropagation());
    clear(tools, search, choice("curve", model.get("measures"), measure, (v) => { measure = v; drawCurves(); }), choice("cost", Object.entries(COSTS).map(([k, t]) => [k, `against ${t}`]), cost, (v) => { cost = v; drawFront(); }),
      h("button", { class: "hl-live", onclick: () => kernel.ask({ again: true }) }, "Look again"));
    clear(body, tools, table, h("div", { class: "hl-columns", style: "margin-top:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr))" }, curves, front));
    drawTable(); drawCurves(); drawFront();
  }
  model.on("change:rows", () => { for (const r of model.get("rows")) chosen.add(r.run); all(); });
  all();
}
export default { render };
