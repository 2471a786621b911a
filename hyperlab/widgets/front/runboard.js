// Runs of the same tasks side by side: a table with every score, curves while they grow, one run in full, two runs' settings, and what each score costs.
const STUDENT = [0, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26];  // 95 % of the mean of 2, 3, … runs
const ROWS = 20;  // of the table at first

// Mean over runs, and half the width of its 95 % interval where there are several
function spreadOf(values) {
  const n = values.length, mean = values.reduce((t, v) => t + v, 0) / n;
  const sd = n > 1 ? Math.sqrt(values.reduce((t, v) => t + (v - mean) ** 2, 0) / (n - 1)) : null;
  return { n, mean, half: sd == null ? null : (STUDENT[Math.min(n - 1, 9)] * sd) / Math.sqrt(n) };
}

function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "runs", "Runs", "");
  let chosen = new Set(Object.keys(model.get("curves"))), filter = "", sort = ["", 1], rowsShown = ROWS, wide = null;
  let measure = "loss", cost = "trained", together = false, scored = null, group = model.get("rows").find((r) => chosen.has(r.run))?.group ?? 0, layout = "";
  const settings = { method: "", backbone: "" };
  const place = (kind) => h("div", { class: `hl-part hl-part-${kind}` });
  const tools = h("div", { class: "hl-row" }), table = place("table"), one = place("one"), curves = place("curves"), front = place("cost"), difference = place("difference"), plots = h("div", { class: "hl-row" }), count = h("p", { class: "hl-note", role: "status" });
  const COSTS = { trained: "trained parameters", percent: "trained per task, % of the backbone", memory: "peak memory, MB", seconds: "time, seconds" };
  const ofGroup = () => model.get("rows").filter((r) => r.group === group);
  const words = () => filter.toLowerCase().trim().split(/\s+/).filter(Boolean);
  const fits = (r, wanted) => { const text = [r.run, r.method, r.backbone, r.state, `seed ${r.seed}`, r.rate, ...(model.get("groups")[r.group]?.tasks ?? [])].join(" ").toLowerCase(); return wanted.every((w) => text.includes(w)); };
  const rows = () => { const wanted = words(); return ofGroup().filter((r) => Object.entries(settings).every(([key, value]) => !value || r[key] === value) && fits(r, wanted)); };
  const methods = () => [...new Set(model.get("rows").map((r) => r.method))].sort();
  const colour = (method) => PALETTE[methods().indexOf(method) % PALETTE.length], form = (method) => FORMS[methods().indexOf(method) % FORMS.length];
  const columns = () => model.get("groups")[group]?.columns ?? [];
  const scoreName = ([, name, metric]) => (metric ? `${name} ${metric}` : name);
  const grouped = (list) => Object.values(list.reduce((groups, r) => { (groups[`${r.method}|${r.backbone}|${r.setting}`] ??= []).push(r); return groups; }, {}));
  const ticked = () => ofGroup().filter((r) => chosen.has(r.run));
  const narrow = () => root.clientWidth < 560;

  // The table: what every run is, then its scores; the rest on demand
  const state = (r) => (r.state === "finished" ? nice(r.step) : [h("span", {}, `${nice(r.step)} of ${nice(r.steps)}, ${r.state}`), r.state === "running" ? h("progress", { max: r.steps || 1, value: r.step, "aria-label": `${r.run}: ${r.step} of ${r.steps} updates` }) : null]);
  const FACTS = [["method", "method", (r) => [glyph(form(r.method), colour(r.method)), ` ${r.method}`]], ["state", "updates", state], ["backbone", "backbone"], ["seed", "seed", null, 1], ["trained", "trained", null, 1], ["memory", "memory, MB", null, 1], ["seconds", "time, s", null, 1]];
  const value = (r, key) => (key.startsWith("score:") ? r.scores[key.slice(6)] : key === "state" ? r.step : r[key]);
  function drawTable() {
    wide ??= !narrow();
    const facts = wide ? FACTS : FACTS.slice(1, 2), scores = (wide ? columns() : columns().slice(0, 1)).map((c) => [`score:${c[0]}`, c]);
    const found = rows(), [by, way] = sort;
    const list = by ? [...found].sort((p, q) => { const a = value(p, by), b = value(q, by); return a == null ? 1 : b == null ? -1 : (a > b ? way : a < b ? -way : 0); }) : found;
    const best = Object.fromEntries(scores.map(([key]) => [key, Math.max(...found.map((r) => value(r, key) ?? -Infinity))]));
    const head = (key, number, ...title) => h("th", { scope: "col", class: number ? "hl-number" : "", "aria-sort": by === key ? (way > 0 ? "ascending" : "descending") : "none" }, h("button", { onclick: () => { sort = [key, by === key ? -way : number ? -1 : 1]; drawTable(); table.querySelector(`[aria-sort]:not([aria-sort=none]) button`)?.focus(); } }, ...title, by === key ? (way > 0 ? " ↑" : " ↓") : ""));
    const box = (r) => h("input", { type: "checkbox", checked: chosen.has(r.run), disabled: model.frozen && !model.get("curves")[r.run], "aria-label": `draw ${r.run}`, onchange: (e) => { if (e.target.checked) chosen.add(r.run); else chosen.delete(r.run); wanted(); } });
    const open = (r) => h("button", { class: "hl-link", "aria-expanded": String(model.get("opened").run === r.run), disabled: model.frozen, onclick: () => kernel.ask({ open: model.get("opened").run === r.run ? "" : r.run, answers: {} }) }, r.run);
    const score = (r, key) => { const v = value(r, key); return h("td", { class: "hl-number" + (v != null && v === best[key] && found.length > 1 ? " hl-best" : "") }, v == null ? "–" : v.toFixed(1)); };
    const fact = (r, [key, , show, number]) => h("td", { class: number ? "hl-number" : "" }, show ? show(r) : typeof r[key] === "number" ? nice(r[key]) : r[key] ?? "–");
    const more = list.length - rowsShown, kept = table.scrollLeft;
    clear(table, h("div", { class: "hl-scroll", tabindex: 0, role: "region", "aria-label": "table of runs" }, h("table", {}, h("thead", {}, h("tr", {}, h("td", {}), head("run", 0, "run"), facts.map(([key, title, , number]) => head(key, number, title)), scores.map(([key, [, name, metric]]) => head(key, 1, h("span", {}, name), metric ? h("span", { class: "hl-metric" }, metric) : "")))),
      h("tbody", {}, list.slice(0, rowsShown).map((r) => h("tr", { "data-run": r.run, "data-state": r.state, class: model.get("opened").run === r.run ? "hl-open" : "" }, h("td", {}, box(r)), h("th", { scope: "row" }, open(r)), facts.map((f) => fact(r, f)), scores.map(([key]) => score(r, key))))))),
      h("div", { class: "hl-row" }, more > 0 ? h("button", { onclick: () => { rowsShown += 5 * ROWS; drawTable(); } }, `Show ${Math.min(more, 5 * ROWS)} more of ${more.toLocaleString("en")}`) : null,
        h("button", { class: "hl-more", onclick: () => { wide = !wide; drawTable(); table.querySelector(".hl-more").focus(); } }, wide ? "Fewer columns" : "All columns")));
    table.scrollLeft = kept;
    const others = model.get("groups").length - 1, elsewhere = words().length ? model.get("rows").filter((r) => r.group !== group && fits(r, words())).length : 0;
    count.textContent = `${list.length.toLocaleString("en")} of ${ofGroup().length.toLocaleString("en")} runs of these tasks` + (others ? `; ${nice(model.get("rows").length - ofGroup().length)} of ${others === 1 ? "another set" : `${others} other sets`} of tasks are not compared with them` : "") + (elsewhere ? `; ${elsewhere} of those fit the filter` : "") + ".";
  }

  // Curves of the ticked runs
  const known = () => { const all = new Set(Object.values(model.get("curves")).flatMap((of) => Object.keys(of))); return [...all].sort((a, b) => (b === "loss") - (a === "loss") || b.startsWith("validation: mean") - a.startsWith("validation: mean") || b.includes(":") - a.includes(":") || a.localeCompare(b)); };
  const label = (list) => (list.length > 1 ? `${list[0].method} (${list.length} seeds)` : list[0].run);
  function lines() {
    const seen = {}, drawn = ticked().filter((r) => model.get("curves")[r.run]?.[measure]);
    const dash = (method) => DASHES[(seen[method] = (seen[method] ?? -1) + 1) % DASHES.length], points = (r) => model.get("curves")[r.run][measure];
    if (!together) return drawn.map((r) => ({ name: r.run, colour: colour(r.method), shape: form(r.method), dash: dash(r.method), points: points(r) }));
    return grouped(drawn).map((list) => {
      const found = list.map((r) => new Map(points(r))), method = list[0].method;
      const steps = [...found[0].keys()].filter((x) => found.every((m) => Number.isFinite(m.get(x)))).map((x) => ({ x, ...spreadOf(found.map((m) => m.get(x))) }));
      return { name: label(list), colour: colour(method), shape: form(method), dash: dash(method), points: steps.map((p) => [p.x, p.mean]), band: list.length > 1 ? steps.map((p) => [p.x, p.mean - p.half, p.mean + p.half]) : null };
    });
  }
  const waiting = () => (kernel.busy() && !model.frozen && ticked().some((r) => !model.get("curves")[r.run]) ? "reading …" : "");
  const drawCurves = fitted(curves, (width) => {
    lineChart(curves, width, lines(), { title: `${measure} over training${together ? ", mean over seeds" : ""}`, yTitle: measure.replace(/^\w+: /, ""), height: 270 });
    curves.append(h("p", { class: "hl-note" }, waiting() || (together ? "Bands: 95 % interval of the mean over seeds, where there are several." : "")));
  });

  // Score against cost
  const scoreKey = () => (columns().some((c) => c[0] === scored) ? scored : columns()[0]?.[0]);
  const drawFront = fitted(front, (width) => {
    const key = scoreKey(), column = columns().find((c) => c[0] === key), done = rows().filter((r) => r.scores[key] != null && r[cost] != null && (chosen.has(r.run) || rows().length <= 200));
    const several = new Map(), points = grouped(done).map((list) => {
      const { n, mean: y, half } = spreadOf(list.map((r) => r.scores[key])), mean = (what) => { const v = list.map((r) => r[what]).filter((x) => x != null); return v.length ? spreadOf(v).mean : null; };
      return { name: n > 1 ? `${list[0].method} (${n} seeds)` : list[0].run, n, y, half, x: mean(cost), colour: colour(list[0].method), shape: form(list[0].method), facts: [["score", y.toFixed(1) + (half != null ? ` ± ${half.toFixed(1)}` : "")], ...Object.entries(COSTS).map(([k, t]) => [t, mean(k) == null ? "–" : nice(mean(k))])] };
    });
    for (const p of points) { const seen = several.get(p.name) ?? 0; several.set(p.name, seen + 1); if (seen) p.name += ` #${seen + 1}`; }  // settings that differ
    const best = [...points].sort((p, q) => p.x - q.x || q.y - p.y).filter((p, i, all) => all.slice(0, i).every((q) => q.y < p.y)).map((p) => p.name);
    scatter(front, width, points, { title: "What a score costs", xTitle: COSTS[cost], yTitle: column ? scoreName(column) : "score", logX: true, height: 270, front: best });
    front.append(h("p", { class: "hl-note" }, "Bars: 95 % interval of the mean over seeds, where there are several. Dashed: nothing cheaper is better."));
  });

  // One run in full
  const drawOne = fitted(one, (width) => {
    const { run, curves: all, answers } = model.get("opened");
    one.hidden = !run;
    if (!run) return clear(one);
    const row = model.get("rows").find((r) => r.run === run) ?? {}, look = { colour: colour(row.method), shape: form(row.method), dash: null };
    const scores = Object.keys(all).filter((k) => k.startsWith("validation: ")), charts = h("div", { class: "hl-three" });
    const shown = (title, names, y) => { const node = h("div"); charts.append(node); return () => lineChart(node, node.clientWidth || width, names.filter((n) => all[n]).map((n, i) => ({ ...look, colour: names.length > 1 ? PALETTE[i % PALETTE.length] : look.colour, shape: FORMS[i % FORMS.length], dash: DASHES[i % DASHES.length], name: n.replace("validation: ", ""), points: all[n] })), { title, yTitle: y, height: 190 }); };
    const draws = [shown("Loss", ["loss"], "loss"), shown("Validation, each task", scores.filter((n) => !n.includes("unreadable")), "percent"), shown("Learning rate", ["learning rate"], "rate")];
    const kept = document.activeElement?.closest(".hl-part-one") ? document.activeElement.getAttribute("aria-label") : null;
    clear(one, h("div", { class: "hl-head" }, h("h4", { tabindex: -1 }, run), h("span", { class: "hl-note" }, `${row.method}, seed ${row.seed}, ${row.state}, ${nice(row.step)} of ${nice(row.steps)} updates`), model.frozen ? null : h("button", { "aria-label": `close ${run}`, onclick: () => { kernel.ask({ open: "" }); table.querySelector(`tr[data-run="${CSS.escape(run)}"] .hl-link`)?.focus(); } }, "Close")), charts, drawAnswers(run, answers));
    for (const draw of draws) draw();
    if (kept) [...one.querySelectorAll("[aria-label]")].find((node) => node.getAttribute("aria-label") === kept)?.focus();
  });
  function drawAnswers(run, a) {
    if (!a.tasks.length) return h("p", { class: "hl-note" }, "No answers yet: they are written when the run is finished.");
    const ask = (change) => kernel.ask({ open: run, answers: { of: a.task, kind: a.kind, start: 0, ...change } }), total = Object.values(a.counts).reduce((t, n) => t + n, 0);
    const kinds = [["", `all ${nice(total)}`], ...Object.entries(a.counts).map(([k, n]) => [k, `${k} ${nice(n)}`])], last = Math.min(a.total, a.from + a.rows.length);
    const marks = { right: "✓ right", wrong: "✗ wrong", unreadable: "? unreadable" };
    return h("div", {}, h("h4", {}, "Answers on test rows"), h("div", { class: "hl-row hl-live" }, choice("answers of which task", [["", "every task"], ...a.tasks], a.task, (of) => ask({ of })), choice("which answers", kinds, a.kind, (kind) => ask({ kind })),
        h("button", { "aria-label": "earlier answers", disabled: a.from === 0, onclick: () => ask({ start: Math.max(0, a.from - 25) }) }, "←"), h("span", { class: "hl-note" }, a.total ? `${nice(a.from + 1)}–${nice(last)} of ${nice(a.total)}` : "none"), h("button", { "aria-label": "later answers", disabled: last >= a.total, onclick: () => ask({ start: a.from + 25 }) }, "→")),
      h("div", { class: "hl-scroll", tabindex: 0, role: "region", "aria-label": `answers of ${run}` }, h("table", { class: "hl-answers-table" }, h("thead", {}, h("tr", {}, ["", "task", "source", "gold", "answer"].map((t) => (t ? h("th", { scope: "col" }, t) : h("td", {}))))),
        h("tbody", {}, a.rows.map(([kind, task, source, gold, answer]) => h("tr", { "data-verdict": kind }, h("td", { class: kind === "right" ? "hl-right" : "hl-wrong" }, marks[kind]), h("td", {}, task), h("td", {}, source), h("td", {}, gold), h("td", {}, answer || "(empty)")))))));
  }

  // Two runs' settings
  function drawDifference() {
    const { runs: pair, rows: found } = model.get("compared"), names = ofGroup().map((r) => r.run);
    const [a, b] = pair ?? [ticked()[0]?.run ?? names[0], ticked()[1]?.run ?? names[1]];
    const offered = [...new Set([...ticked().map((r) => r.run), a, b, ...names.slice(0, 200)])].filter(Boolean);
    if (names.length < 2 && !pair) return clear(difference);
    const pick = (which, value, other) => choice(`${which} run to compare`, offered, value, (v) => kernel.ask({ compare: which === "first" ? [v, other] : [other, v] }));
    clear(difference, h("h4", {}, "What two runs were asked differently"), h("div", { class: "hl-row" }, model.frozen ? null : [pick("first", a, b), pick("second", b, a), pair ? null : h("button", { onclick: () => kernel.ask({ compare: [a, b] }) }, "Compare settings")]),
      !pair ? null : found.length ? h("div", { class: "hl-scroll", tabindex: 0, role: "region", "aria-label": "settings that differ" }, h("table", { class: "hl-settings" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "setting"), pair.map((n) => h("th", { scope: "col" }, n)))), h("tbody", {}, found.map(([name, p, q]) => h("tr", {}, h("th", { scope: "row" }, name), [p, q].map((v) => h("td", { title: v.length > 60 ? v : null }, v.length > 60 ? v.slice(0, 59) + "…" : v)))))))
        : h("p", { class: "hl-note" }, "Nothing: both runs were asked the same."));
  }

  // Ticks and groups
  const wanted = () => { drawCurves(); drawFront(); drawDifference(); const names = ticked().map((r) => r.run); if (!model.frozen && names.some((n) => !model.get("curves")[n])) kernel.ask({ draw: names }); };
  function setGroup(number) {
    group = number; rowsShown = ROWS; scored = null; sort = ["", 1]; Object.assign(settings, { method: "", backbone: "" });
    if (!ticked().length) for (const r of ofGroup().slice(0, 6)) chosen.add(r.run);
    layout = ""; all(); wanted();
  }
  function all() {
    const everything = model.get("rows"), groups = model.get("groups");
    if (!everything.length) { layout = ""; clear(body, h("p", {}, model.get("about"))); sub.textContent = ""; return; }
    if (!known().includes(measure)) measure = known()[0] ?? measure;
    const now = JSON.stringify([groups.map((g) => [g.title, g.columns]), known(), methods(), group]);
    sub.textContent = (model.get("folder") ? `In ${model.get("folder")}. ` : "") + "Tick runs to draw them, click a name to open one.";
    if (now !== layout) { layout = now; controls(everything, groups); }
    drawTable(); drawCurves(); drawFront(); drawOne(); drawDifference();
  }
  function controls(everything, groups) {
    const search = h("input", { type: "search", size: 22, placeholder: "filter: method, task, seed 1 …", "aria-label": "filter runs", value: filter, oninput: () => { filter = search.value; rowsShown = ROWS; drawTable(); drawFront(); } });
    search.addEventListener("keydown", (e) => e.stopPropagation());
    const only = (key) => { const names = [...new Set(ofGroup().map((r) => r[key]))].sort(); return names.length > 1 ? choice(`only this ${key}`, [["", `every ${key}`], ...names], settings[key], (v) => { settings[key] = v; rowsShown = ROWS; drawTable(); drawFront(); }) : null; };
    const number = (i) => everything.filter((r) => r.group === i).length;
    clear(tools, groups.length > 1 ? choice("set of tasks", groups.map((g, i) => [String(i), `${g.title} (${number(i)} runs)`]), String(group), (v) => setGroup(Number(v))) : h("span", { class: "hl-group" }, groups[0].title),
      search, only("method"), only("backbone"), h("button", { class: "hl-live", onclick: () => kernel.ask({ again: true }) }, "Look again"));
    clear(plots, choice("curve", known(), measure, (v) => { measure = v; drawCurves(); }), choice("curves", [["", "each run"], ["mean", "mean over seeds"]], together ? "mean" : "", (v) => { together = Boolean(v); drawCurves(); }),
      columns().length > 1 ? choice("score", columns().map((c) => [c[0], `score: ${scoreName(c)}`]), scoreKey(), (v) => { scored = v; drawFront(); }) : null, choice("cost", Object.entries(COSTS).map(([k, t]) => [k, `against ${t}`]), cost, (v) => { cost = v; drawFront(); }));
    clear(body, tools, count, table, one, plots, h("div", { class: "hl-plots" }, curves, front), difference);
  }
  // While a run goes on, look again; the more seldom the longer a look takes
  const again = () => {
    const live = model.get("rows").some((r) => r.state === "running"), took = Number(root.dataset.wholeMs ?? 0);
    if (root.isConnected && live && !kernel.busy() && document.visibilityState === "visible") kernel.ask({ again: true });
    if (root.isConnected || !seen) setTimeout(again, Math.max(3000, 20 * took));
    seen ||= root.isConnected;
  };
  let seen = false;
  if (!model.frozen) setTimeout(again, 3000);
  model.on("change:rows", () => { const first = !chosen.size; if (first) chosen = new Set(Object.keys(model.get("curves"))); all(); });
  model.on("change:curves", () => { for (const name of first() ? Object.keys(model.get("curves")) : []) chosen.add(name); all(); });
  const first = () => !chosen.size;
  model.on("change:opened", () => { const run = model.get("opened").run; drawTable(); drawOne(); if (run && run !== last) one.querySelector("h4")?.focus({ preventScroll: false }); last = run; });
  model.on("change:compared", drawDifference);
  let last = model.get("opened").run;
  all();
}
export default { render };
