// Mix tasks: sliders, a text and its answers, the adapter that is written, and the way between two tasks.
function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "mixer", "Mix tasks", model.get("about"));
  const tasks = () => model.get("tasks"), named = (name) => tasks().find((t) => t.name === name) ?? { name, colour: "#7f7f7f" };
  let weights = { ...model.get("mixture") }, [a, b] = model.get("pair"), saved = "";
  const total = () => Object.values(weights).reduce((x, y) => x + y, 0) || 1;
  const normal = () => Object.fromEntries(Object.entries(weights).filter(([, w]) => w > 0).map(([n, w]) => [n, w / total()]));
  const ask = (more = {}) => kernel.ask({ mixture: normal(), ...more });

  const sliders = h("div", { class: "hl-sliders" }), controls = {}, far = h("p", { class: "hl-note" });
  const more = h("div", { class: "hl-row hl-live" });
  const shares = () => { const all = total(); for (const [name, c] of Object.entries(controls)) c.out.textContent = two((weights[name] ?? 0) / all); };
  function shown() {
    const names = tasks().map((t) => t.name), used = names.filter((n) => n in weights);
    return used.length ? used : names.slice(0, 1);
  }
  function drawSliders() {
    const focused = document.activeElement?.getAttribute?.("aria-label");
    for (const name of Object.keys(controls)) delete controls[name];
    clear(sliders, shown().map((name) => {
      const task = named(name), c = slider(`weight of ${name}`, weights[name] ?? 0, { colour: task.colour }, (v) => {
        weights[name] = v; shares(); moveCursor(); ask();
      });
      if (model.frozen || !model.get("mixes")) c.input.disabled = true;
      controls[name] = c;
      return h("label", { class: "hl-slide" }, h("span", {}, name, " ", glyph(task.shape, task.colour, task.added)), c.input, c.out);
    }));
    shares();
    const rest = tasks().map((t) => t.name).filter((n) => !(n in weights));
    clear(more, rest.length ? choice("add a task", [["", "+ add a task"], ...rest], "", (n) => { if (n) { weights[n] = 0; drawSliders(); controls[n].input.focus(); } }) : null);
    if (focused) [...sliders.querySelectorAll("input")].find((i) => i.getAttribute("aria-label") === focused)?.focus();
  }

  const text = h("textarea", { "aria-label": "text for the model", rows: 3, spellcheck: "false", oninput: () => ask({ text: text.value }) });
  text.value = model.get("text");
  if (model.frozen) text.disabled = true;
  const bars = h("div", { class: "hl-answers" }), said = h("p", { class: "hl-note" });
  function drawAnswer() {
    const answer = model.get("answer"), found = answer.probabilities ?? [], best = Math.max(...found.map((f) => f.p), 0);
    clear(bars, found.map(({ word, p }) => h("div", { class: "hl-bar" + (p === best ? " hl-first" : "") }, h("span", {}, word),
      h("div", {}, fill(h("div"), { style: `width:${(100 * p).toFixed(1)}%` }, [])), h("output", {}, two(p)))));
    said.textContent = answer.text == null ? "" : `The model writes “${answer.text}”.` + (found.length ? ` ${two(Math.max(0, 1 - found.reduce((x, f) => x + f.p, 0)))} is left for anything else.` : "");
    far.textContent = answer.nearest ? `Nearest task: ${answer.nearest}, ${two(answer.distance)} of the typical distance between tasks away.` : "";
    root.dataset.answer = JSON.stringify(found);
  }

  const canvas = h("canvas", { class: "hl-heat", role: "img" }), seen = h("p", { class: "hl-note" });
  function drawView() {
    const view = model.get("view");
    canvas.parentElement.hidden = !view.rows;
    if (!view.rows) return;
    heat(canvas, view.rows, view.limit);
    canvas.style.height = `${Math.min(130, Math.max(48, view.rows.length * 5))}px`;
    canvas.setAttribute("aria-label", `${view.name} at ${view.site} as a heat map`);
    seen.textContent = `${view.name} (${view.rows.length} × ${view.rows[0].length}) at ${view.site}, norm ${short(view.norm)}; colours span ±${short(view.limit)}.`;
    root.dataset.norm = view.norm;
  }

  // The way from a to b
  const chart = h("div", { class: "hl-chart" }), wayTitle = h("h4"), heads = h("div", { class: "hl-row hl-live" }), legend = h("ul", { class: "hl-legend" });
  const way = slider("share of the way", 0, { step: 0.05 }, (v) => { weights = { [a]: 1 - v, [b]: v }; drawSliders(); moveCursor(); ask(); });
  const place = () => { const n = normal(); return Object.keys(n).every((k) => k === a || k === b) ? n[b] ?? 0 : null; };
  let cursor = null;
  function moveCursor() {
    const share = place();
    if (share != null && document.activeElement !== way.input) way.set(share);
    if (cursor) { cursor.node.style.display = share == null ? "none" : ""; cursor.node.setAttribute("transform", `translate(${cursor.X(share ?? 0)} 0)`); }
  }
  // colour says which task, dashes say it again: solid and dashed for mixed embeddings, dotted and dash-dotted for mixed weights
  const colourOf = (name) => (name === b && named(b).colour === named(a).colour ? "#7f7f7f" : named(name).colour);
  const dashOf = (name, how) => (how === "weights" ? (name === a ? "2 4" : "7 3 1.5 3") : name === a ? null : "8 4");
  const drawPath = fitted(chart, (width) => {
    const path = model.get("path"), points = path.points ?? [], height = 190;
    const scores = points.flatMap((p) => [p.low, p.high]), [low, high] = scores.length ? extent(scores) : [0, 100];
    const { X, Y, group } = axes(width, height, [0, 1], [Math.max(0, Math.floor(low / 10) * 10), Math.min(100, Math.ceil(high / 10) * 10 || 100)],
      { yTitle: "score, percent", xTicks: [[0, a], [1, b]], bottom: 24 });
    const series = [];
    for (const name of [a, b]) for (const how of ["weights", "embeddings"]) {
      const found = points.filter((p) => p.task === name && p.how === how).sort((p, q) => p.share - q.share);
      if (!found.length) continue;
      const colour = ink(colourOf(name));
      if (how === "embeddings") series.push(s("path", { fill: colour, opacity: 0.13, d: "M" + [...found.map((p) => `${X(p.share)} ${Y(p.high)}`), ...found.toReversed().map((p) => `${X(p.share)} ${Y(p.low)}`)].join("L") + "Z" }));
      series.push(polyline(found.map((p) => [X(p.share), Y(p.score)]), { stroke: colour, "stroke-width": how === "embeddings" ? 2.2 : 1.5, "stroke-dasharray": dashOf(name, how), opacity: how === "weights" ? 0.8 : 1 }));
    }
    cursor = { X, node: s("g", {}, s("line", { x1: 0, x2: 0, y1: 6, y2: height - 24, stroke: "currentColor", "stroke-width": 1.4 })) };
    const label = `scores on ${a} and ${b} along the way between them`;
    clear(chart, s("svg", { width, height, role: "img", "aria-label": label }, group, series, cursor.node));
    moveCursor();
    wayTitle.textContent = `On the way from ${a} to ${b}` + (path.done === false ? " (computing …)" : "");
    const ways = [...new Set(points.map((p) => p.how))], said = { embeddings: "embeddings mixed", weights: "adapter weights mixed" };
    clear(legend, ways.flatMap((how) => [a, b].map((n) => h("li", {}, stroke(colourOf(n), dashOf(n, how), how === "weights" ? 1.6 : 2.4), `${n}, ${said[how]}`))),
      path.examples ? h("li", {}, `${path.examples} validation examples of each; bands 95 %`) : null);
  });
  function drawHeads() {
    const names = tasks().map((t) => t.name);
    const go = () => { weights = { [a]: 1 - Number(way.input.value), [b]: Number(way.input.value) }; drawSliders(); ask({ pair: [a, b], path: true }); drawPath(); };
    clear(heads, choice("from task", names, a, (v) => { a = v; go(); }), way.input, choice("to task", names, b, (v) => { b = v; go(); }),
      h("button", { onclick: () => ask({ pair: [a, b], path: true }) }, "Score the way"));
    way.input.style.flex = "1 1 120px"; way.input.style.width = "auto";
  }

  const name = h("input", { type: "text", "aria-label": "name of the new task", placeholder: "name of the new task", size: 18 });
  const save = h("button", { class: "hl-main", onclick: () => { saved = name.value.trim(); if (saved) ask({ save: saved }); else name.focus(); } }, "Save mixture as a task");
  name.addEventListener("keydown", (e) => { if (e.key === "Enter") save.click(); e.stopPropagation(); });
  text.addEventListener("keydown", (e) => e.stopPropagation());

  clear(body,
    h("div", { class: "hl-columns" },
      h("div", {}, sliders, more, far),
      h("div", {}, text, h("h4", { style: "margin-top:8px" }, "The model's answer"), bars, said)),
    h("div", { style: "margin-top:12px" }, h("h4", {}, "The adapter that is written"), canvas, seen),
    model.get("mixes") ? h("div", { style: "margin-top:12px" }, wayTitle, heads, chart, legend) : null,
    model.get("mixes") ? h("div", { class: "hl-row hl-live", style: "margin-top:12px" }, name, save) : null);

  model.on("change:view", () => { drawView(); kernel.timed("view"); });
  model.on("change:answer", () => { drawAnswer(); kernel.timed("answer"); });
  model.on("change:path", drawPath);
  model.on("change:about", () => { sub.textContent = model.get("about"); });
  model.on("change:tasks", () => { drawHeads(); if (saved && tasks().some((t) => t.name === saved)) { name.value = ""; saved = ""; } drawSliders(); });
  model.on("change:text", () => { if (document.activeElement !== text) text.value = model.get("text"); });
  model.on("change:mixture", () => {
    const theirs = model.get("mixture"), ours = normal(), names = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
    if (kernel.busy() || [...names].every((n) => Math.abs((theirs[n] ?? 0) - (ours[n] ?? 0)) < 1e-3)) return;
    weights = { ...Object.fromEntries(Object.keys(weights).map((n) => [n, 0])), ...theirs };
    drawSliders(); moveCursor();
  });
  drawSliders(); drawAnswer(); drawView(); if (model.get("mixes")) { drawHeads(); drawPath(); }
  requestAnimationFrame(() => { drawView(); if (!model.frozen && model.get("mixes") && !model.get("path").points?.length && model.get("walks")) ask({ pair: [a, b], path: true }); });
}
export default { render };
