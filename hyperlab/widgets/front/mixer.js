// Mix tasks: sliders, a text and its answers, the adapter that is written, two mixtures side by side, and the way between two tasks.
function render({ model, el }) {
  const { root, body, sub, status, line: kernel } = panel(model, el, "mixer", "Mix tasks", model.get("about"));
  const tasks = () => model.get("tasks"), named = (name) => tasks().find((t) => t.name === name) ?? { name, colour: "#7f7f7f" };
  const mixes = () => model.get("mixes"), working = () => Boolean(model.get("working")?.what);
  let brief = (name) => name;
  const crowd = () => tasks().length > CROWD, inWords = (mixture) => Object.entries(mixture).map(([n, w]) => `${two(w)} ${brief(n)}`).join(" + ");
  // a saved mixture has a ring as its mark, and says what it was mixed from
  const label = (name) => { const task = named(name); return [h("span", { title: task.parts ? `saved mixture: ${inWords(task.parts)}` : brief(name) === name ? null : name }, brief(name)), " ", glyph(task.shape, task.colour, task.added)]; };
  let weights = { ...model.get("mixture") }, [a, b] = model.get("pair"), saved = "", text = model.get("text"), site = model.get("site");
  const shares = () => Object.fromEntries(Object.entries(weights).filter(([, w]) => w > 0));
  const ask = (more = {}) => { kernel.ask({ mixture: shares(), ...more }); later(); wantExamples(); };

  // Undo: what was there before each gesture; steps of one gesture in quick succession are one
  const past = [], future = [];
  let gesture = "", at = 0;
  const now = () => ({ weights: { ...weights }, text, site });
  function remember(what) {
    const same = what === gesture && performance.now() - at < 1200;
    gesture = what; at = performance.now();
    if (!same) { past.push(now()); future.length = 0; if (past.length > 200) past.shift(); drawHistory(); }
  }
  function travel(from, to) {
    if (!from.length) return;
    to.push(now()); gesture = "";
    ({ weights, text, site } = from.pop());
    field.value = text;
    drawSliders(); drawSites(); moveCursor(); drawHistory();
    ask({ text, site });
  }
  const undo = h("button", { onclick: () => travel(past, future) }, "Undo"), redo = h("button", { onclick: () => travel(future, past) }, "Redo");
  function drawHistory() { undo.disabled = !past.length; redo.disabled = !future.length; }
  root.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("textarea, input[type=text]")) return;
    event.preventDefault(); event.stopPropagation();
    if (event.shiftKey) travel(future, past); else travel(past, future);
  });

  // The sliders share one whole: what one gains the others lose in proportion, so that a thumb stands where its number says
  const sliders = h("div", { class: "hl-sliders" }), controls = {}, far = h("p", { class: "hl-note" }), more = h("div", { class: "hl-row hl-live" });
  let proportions = { ...weights };
  function move(name, to) {
    remember(`slider ${name}`);
    const rest = Object.keys(weights).filter((n) => n !== name);
    if (!rest.length) { weights[name] = 1; return; }
    const sum = (of) => rest.reduce((x, n) => x + (of[n] ?? 0), 0), base = sum(weights) > 1e-6 ? weights : sum(proportions) > 1e-6 ? proportions : Object.fromEntries(rest.map((n) => [n, 1]));
    const whole = sum(base);
    weights = Object.fromEntries(Object.keys(weights).map((n) => [n, n === name ? to : ((1 - to) * (base[n] ?? 0)) / whole]));
    if (to < 1) proportions = { ...weights };
  }
  function showShares(moving = null) {
    for (const [name, c] of Object.entries(controls)) {
      const share = weights[name] ?? 0, none = share < 0.005;
      if (c !== moving) c.set(share);
      c.out.textContent = none ? "none" : two(share);
      c.input.setAttribute("aria-valuetext", none ? "none, not in the mixture" : two(share));
    }
  }
  const none = (name) => !(weights[name] > 0.005), shown = () => { const names = tasks().map((t) => t.name).filter((n) => n in weights); return crowd() ? [...names.filter((n) => !none(n)), ...names.filter(none)] : names; };
  const add = (name) => { remember("add"); weights[name] = 0; drawSliders(); controls[name].input.focus(); };

  // Many tasks are searched by name and family, in groups; the list is made once, so that it stays open with its word
  const finder = h("input", { type: "search", placeholder: "find a task or family", "aria-label": "find a task to add", oninput: () => drawAdder() }), found = h("div", { class: "hl-examples" }), count = h("summary");
  const adder = h("details", { class: "hl-live hl-adder" }, count, finder, found);
  finder.addEventListener("keydown", (event) => { event.stopPropagation(); if (event.key === "Enter") found.querySelector("button")?.click(); });
  function drawAdder() {
    const rest = tasks().filter((t) => !(t.name in weights)), words = finder.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = rest.filter((t) => words.every((w) => `${t.name} ${t.family}`.toLowerCase().includes(w))), families = [...new Set(fits.map((t) => t.family))];
    adder.hidden = !crowd() || !rest.length || !mixes();
    count.textContent = `Add one of ${rest.length} more tasks`;
    clear(found, families.map((family) => h("div", {}, h("h4", {}, family), h("div", { class: "hl-chips" }, fits.filter((t) => t.family === family).map((t) => h("button", { "aria-label": `add ${t.name}`, title: t.name, onclick: () => add(t.name) }, brief(t.name)))))),
      fits.length ? null : h("p", { class: "hl-note" }, `No other task has “${finder.value.trim()}”.`));
  }
  function drawSliders() {
    const focused = document.activeElement?.getAttribute?.("aria-label"), names = shown();
    brief = briefly(tasks().map((t) => t.name));
    sliders.classList.toggle("hl-long", names.some((n) => brief(n).length > 16));
    for (const name of Object.keys(controls)) delete controls[name];
    clear(sliders, names.map((name) => {
      const c = slider(`weight of ${name}`, weights[name] ?? 0, { step: 0.05, fine: 0.01, colour: named(name).colour }, (v) => { move(name, v); showShares(c); moveCursor(); ask(); });
      if (model.frozen || !mixes() || names.length < 2) c.input.disabled = true;
      controls[name] = c;
      return h("label", { class: "hl-slide" }, h("span", {}, label(name)), c.input, c.out);
    }));
    showShares();
    const rest = taskOptions(tasks()).filter(([n]) => !(n in weights)), zero = names.filter(none);
    clear(more,
      rest.length && mixes() && !crowd() ? choice("add a task", [["", "+ add a task"], ...rest], "", (n) => { if (n) add(n); }) : null,
      zero.length && names.length > 2 ? h("button", { onclick: () => { remember("tidy"); for (const n of zero) delete weights[n]; drawSliders(); ask(); } }, "Put away sliders at none") : null,
      undo, redo,
      names.length === 1 && mixes() ? h("span", { class: "hl-note", style: "margin:0" }, "One task alone: add another to mix it with.") : null);
    drawHistory(); drawAdder();
    if (focused) [...sliders.querySelectorAll("input")].find((i) => i.getAttribute("aria-label") === focused)?.focus();
  }

  const field = h("textarea", { "aria-label": "text for the model", rows: 3, spellcheck: "false", oninput: () => { remember("text"); text = field.value; ask({ text }); } });
  field.value = text;
  if (model.frozen) field.disabled = true;
  const keepKeys = (node) => node.addEventListener("keydown", (event) => event.stopPropagation());
  keepKeys(field);

  // Texts to try, with the answers that are wanted
  const offered = h("div", { class: "hl-examples" }), examples = h("details", { class: "hl-live", ontoggle: () => { drawExamples(); wantExamples(); } }, h("summary", {}, "Texts to try"), offered);
  let askedFor = null;
  function wantExamples() {  // those of the mixture's tasks, once for each set of them
    const names = Object.keys(shares()).sort().join();
    if (examples.open && names !== askedFor) { askedFor = names; drawExamples(); kernel.ask({ presets: true }); }
  }
  function drawExamples() {
    const found = model.get("presets"), every = [...new Set(found.map((p) => p.task))], groups = [...every.filter((n) => !none(n)), ...every.filter(none)];
    const use = (preset) => { remember("example"); text = preset.text; field.value = text; ask({ text }); };
    clear(offered, groups.length ? groups.map((name) => h("div", {}, h("h4", {}, label(name)), found.filter((p) => p.task === name).map((p) =>
      h("button", { onclick: () => use(p) }, h("span", {}, p.text), h("span", { class: "hl-wanted" }, `wanted: ${p.gold}`))))) : h("p", { class: "hl-note" }, working() ? "The examples are being read." : "These tasks have no rows on this machine: type a text."));
  }

  const bars = h("div", { class: "hl-answers" }), scales = h("div"), said = h("p", { class: "hl-note" });
  function drawScale(scale, gold) {
    const node = h("div", { class: "hl-chart" }), height = 104;
    const draw = fitted(node, (width) => {
      const { X, Y, group } = axes(width, height, [scale.low, scale.high], [0, Math.max(...scale.p, 0.01)], { xTitle: "answer", yTitle: "probability" });
      const wanted = Number.parseFloat(gold), wide = Math.max(2, (X(scale.values[1]) - X(scale.values[0])) * 0.7);
      const mark = (value, name, dash) => Number.isFinite(value) ? [s("line", { x1: X(value), x2: X(value), y1: 8, y2: Y(0), stroke: "currentColor", "stroke-width": 1.4, "stroke-dasharray": dash }), s("text", { x: X(value) + (value > (scale.low + scale.high) / 2 ? -4 : 4), y: 14, "text-anchor": value > (scale.low + scale.high) / 2 ? "end" : "start", dy: dash ? 12 : 0 }, name)] : [];
      const words = `how likely each number is: ${two(scale.mass)} of all answers are numbers from ${scale.low} to ${scale.high}` + (scale.mean == null ? "" : `, ${two(scale.mean)} on average`);
      clear(node, s("svg", { width, height, role: "img", "aria-label": words, "data-scale": "" }, group,
        scale.values.map((v, i) => s("rect", { x: X(v) - wide / 2, y: Y(scale.p[i]), width: wide, height: Math.max(0, Y(0) - Y(scale.p[i])), fill: "var(--hl-accent)" })),
        scale.mean == null ? null : mark(scale.mean, `mean ${two(scale.mean)}`, null), mark(wanted, `wanted ${gold}`, "4 3")));
    });
    requestAnimationFrame(draw);
    return node;
  }
  function drawAnswer() {
    const answer = model.get("answer"), found = answer.probabilities ?? [], best = Math.max(...found.map((f) => f.p), 0), gold = answer.gold;
    clear(bars, found.map(({ word, p }) => h("div", { class: "hl-bar" + (p === best ? " hl-first" : "") }, h("span", {}, word, word === gold ? h("span", { class: "hl-wanted" }, " wanted") : null),
      h("div", {}, h("div", { style: `width:${(100 * p).toFixed(1)}%` })), h("output", {}, two(p)))));
    clear(scales, (answer.scales ?? []).map((scale) => drawScale(scale, gold)));
    const sum = found.reduce((x, f) => x + f.p, 0) + (answer.scales ?? []).reduce((x, f) => x + f.mass, 0);
    said.textContent = answer.text == null ? "Type a text, or choose one below, to see the model's answer."
      : `The model writes “${answer.text}”.` + (gold ? ` Wanted for ${brief(answer.source)}: “${gold}”.` : "") + (found.length || answer.scales?.length ? ` ${two(Math.max(0, 1 - sum))} is left for anything else.` : "");
    far.textContent = answer.nearest ? `Nearest task: ${brief(answer.nearest)}, ${two(answer.distance)} of the typical distance between tasks away.` : "";
    root.dataset.answer = JSON.stringify([answer.text, found, answer.scales]);
  }

  const canvas = h("canvas", { class: "hl-heat", role: "img" }), seen = h("p", { class: "hl-note" }), where = h("span", { class: "hl-live" });
  function drawSites() {
    const sites = model.get("sites") ?? [];
    if (where.querySelector("select")?.options.length === sites.length) { where.querySelector("select").value = site; return; }
    clear(where, sites.length > 1 ? choice("site of the adapter", sites, site, (v) => { remember("site"); site = v; ask({ site }); }) : null);
  }
  function drawView() {
    const view = model.get("view");
    canvas.hidden = !view.rows;
    seen.textContent = view.rows ? "" : (model.get("sites") ?? []).length ? "This method writes its adapters from a text: type one to see them." : "This method keeps no adapter to draw.";
    if (!view.rows) return;
    heat(canvas, view.rows, view.limit);
    canvas.style.height = `${Math.min(130, Math.max(48, view.rows.length * 5))}px`;
    canvas.setAttribute("aria-label", `${view.name} at ${view.site} as a heat map`);
    seen.textContent = `${view.name} (${view.rows.length} × ${view.rows[0].length}) at ${view.site}, norm ${short(view.norm)}; colours span ±${short(view.limit)}.`;
    root.dataset.norm = view.norm;
  }

  // Two mixtures side by side: A is what the sliders say, B is held
  const pairRow = h("div", { class: "hl-row hl-live" }), table = h("div", { class: "hl-scroll" }), verdict = h("p", { class: "hl-note" });
  const held = () => Object.keys(model.get("held") ?? {}).length > 0;
  let clock = null;
  function later() {  // the comparison follows when the hand rests
    clearTimeout(clock);
    if (!model.frozen && held() && model.get("sides").rows) clock = setTimeout(() => { if (working() || kernel.busy()) later(); else kernel.ask({ sides: true }); }, 700);
  }
  function drawSides() {
    const sides = model.get("sides"), rows = sides.rows ?? [], other = model.get("held");
    clear(pairRow, h("button", { onclick: () => kernel.ask({ held: shares() }) }, held() ? "Hold this mixture as B instead" : "Hold this mixture as B"),
      held() ? [h("button", { onclick: () => { remember("swap"); const mine = shares(); weights = { ...other }; drawSliders(); moveCursor(); ask({ held: mine }); } }, "Swap A and B"),
        h("button", { onclick: () => kernel.ask({ held: {} }) }, "Let B go"), h("button", { class: "hl-main", onclick: () => kernel.ask({ sides: true }) }, "Compare on examples")] : null);
    const [one, two_] = sides.mixtures ?? [shares(), other];
    const cell = (side) => { const right = side.right; return h("td", right == null ? {} : { "data-right": right }, right == null ? null : h("span", { class: right ? "hl-right" : "hl-wrong", role: "img", "aria-label": right ? "right" : "wrong" }, right ? "✓" : "✗"), ` ${side.text} `,
      "off" in side ? h("span", { class: "hl-wanted" }, side.off == null ? "no number" : `off by ${side.off.toFixed(1)}`) : null, side.p == null ? null : h("span", { class: "hl-wanted" }, `p(wanted) ${two(side.p)}`)); };
    clear(table, rows.length ? h("table", { class: "hl-sides" }, h("thead", {}, h("tr", {}, ["text", "wanted", "A", "B"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("td", {}, row.task ? [h("span", { class: "hl-wanted", style: "margin:0" }, brief(row.task)), " "] : null, row.text), h("td", {}, row.gold || "–"), row.sides.map(cell))))) : null);
    const count = (i) => { const told = rows.filter((r) => "right" in r.sides[i]), scored = rows.filter((r) => "off" in r.sides[i]).length, off = rows.map((r) => r.sides[i].off).filter((x) => x != null);
      return [told.length ? `${told.filter((r) => r.sides[i].right).length} of ${told.length} right` : "", scored ? `a number for ${off.length} of ${scored}` + (off.length ? `, off by ${two(off.reduce((x, y) => x + y, 0) / off.length)} on average` : "") : ""].filter(Boolean).join(", ") || "nothing to judge"; };
    verdict.textContent = rows.length ? `A (${inWords(one)}): ${count(0)}. B (${inWords(two_)}): ${count(1)}.` : held() ? `B is ${inWords(other)}. A is what the sliders say.` : "Hold a mixture, move on, and see both answer the same examples.";
    table.tabIndex = rows.length ? 0 : -1;
    busy();
  }

  // The way from a to b
  const chart = h("div", { class: "hl-chart" }), wayTitle = h("h4"), heads = h("div", { class: "hl-row hl-live" }), legend = h("ul", { class: "hl-legend" });
  const along = (v) => { remember("way"); weights = { [a]: 1 - v, [b]: v }; drawSliders(); moveCursor(); ask(); };
  const way = slider("share of the way", 0, { step: 0.05, fine: 0.01 }, along), score = h("button", { onclick: () => ask({ pair: [a, b], path: true }) }, "Score the way");
  way.input.style.flex = "1 1 120px"; way.input.style.width = "auto";
  const place = () => { const n = shares(); return Object.keys(n).every((k) => k === a || k === b) ? n[b] ?? 0 : null; };
  let cursor = null;
  function moveCursor() {
    const share = place();
    if (share != null && document.activeElement !== way.input) way.set(share);
    if (cursor) { cursor.node.style.display = share == null ? "none" : ""; cursor.node.setAttribute("transform", `translate(${cursor.X(share ?? 0)} 0)`); }
  }
  // colour says which task, dashes say it again: solid and dashed for mixed embeddings, dotted and dash-dotted for mixed weights
  const DASHES = { embeddings: [null, "8 4", "14 3 3 3", "3 5"], weights: ["2 4", "7 3 1.5 3", "1 6", "10 6"] };
  const drawPath = fitted(chart, (width) => {
    const path = model.get("path"), points = path.points ?? [], height = 190, names = [...new Set(points.map((p) => p.task))];
    const colourOf = (name) => (names.indexOf(name) > names.findIndex((n) => named(n).colour === named(name).colour) ? "#7f7f7f" : named(name).colour);
    const dashOf = (name, how) => DASHES[how][names.indexOf(name) % 4];
    wayTitle.textContent = `On the way from ${brief(a)} to ${brief(b)}`;
    chart.hidden = !points.length && !working();
    const scores = points.flatMap((p) => [p.low, p.high]), [low, high] = scores.length ? extent(scores) : [0, 100];
    const { X, Y, group } = axes(width, height, [0, 1], [Math.max(0, Math.floor(low / 10) * 10), Math.min(100, Math.ceil(high / 10) * 10 || 100)],
      { yTitle: "score, percent", xTicks: [[0, brief(a)], [1, brief(b)]], bottom: 24 });
    const series = [];
    for (const name of names) for (const how of ["weights", "embeddings"]) {
      const found = points.filter((p) => p.task === name && p.how === how).sort((p, q) => p.share - q.share);
      if (!found.length) continue;
      const colour = ink(colourOf(name));
      if (how === "embeddings") series.push(s("path", { fill: colour, opacity: 0.13, d: "M" + [...found.map((p) => `${X(p.share)} ${Y(p.high)}`), ...found.toReversed().map((p) => `${X(p.share)} ${Y(p.low)}`)].join("L") + "Z" }));
      series.push(polyline(found.map((p) => [X(p.share), Y(p.score)]), { stroke: colour, "stroke-width": how === "embeddings" ? 2.2 : 1.5, "stroke-dasharray": dashOf(name, how), opacity: how === "weights" ? 0.8 : 1 }));
    }
    cursor = { X, node: s("g", {}, s("line", { x1: 0, x2: 0, y1: 6, y2: height - 24, stroke: "currentColor", "stroke-width": 1.4 })) };
    clear(chart, s("svg", { width, height, role: "img", "aria-label": `scores on ${names.join(" and ") || "both tasks"} along the way from ${a} to ${b}` }, group, series, cursor.node));
    moveCursor();
    const ways = [...new Set(points.map((p) => p.how))], spoken = { embeddings: "embeddings mixed", weights: "adapter weights mixed" };
    clear(legend, ways.flatMap((how) => names.map((n) => h("li", {}, stroke(colourOf(n), dashOf(n, how), how === "weights" ? 1.6 : 2.4), `${brief(n)}, ${spoken[how]}`))),
      points.length ? h("li", {}, `${path.examples} validation examples of each; bands 95 %${path.done && !path.whole ? "; stopped before the end" : ""}`) : h("li", {}, "Not scored yet: scoring asks the model for the answers to validation examples at points along the way."));
  });
  function drawHeads() {
    const names = taskOptions(tasks()), go = () => { if (a !== b) kernel.ask({ pair: [a, b] }); else status.textContent = "The way needs two different tasks."; drawPath(); };
    clear(heads, choice("from task", names, a, (v) => { a = v; go(); }), way.input, choice("to task", names, b, (v) => { b = v; go(); }), score);
  }
  function busy() { for (const button of [score, ...pairRow.querySelectorAll(".hl-main")]) button.disabled = working() || model.frozen; }

  // Keeping: the mixture as a task, the model in a folder, the state in a link
  const entry = (words, size, press) => { const input = h("input", { type: "text", "aria-label": words, placeholder: words, size }); keepKeys(input); input.addEventListener("keydown", (e) => { if (e.key === "Enter") press(); }); return input; };
  const save = () => { saved = name.value.trim(); if (saved) kernel.ask({ mixture: shares(), save: saved }); else name.focus(); };
  const keep = () => { if (folder.value.trim()) kernel.ask({ keep: folder.value.trim() }); else folder.focus(); };
  const name = entry("name of the new task", 18, save), folder = entry("name of the folder", 18, keep);
  const inPage = document.body.dataset.voila !== undefined, link = entry("link or state to restore", 26, () => restore());
  const restore = () => { if (link.value.trim()) { remember("restore"); kernel.ask({ restore: link.value.trim() }); } else link.focus(); };
  function copy() {
    const made = inPage ? `${location.href.split("#")[0]}#${model.get("state")}` : model.get("state");
    if (inPage) history.replaceState(history.state, "", made);
    link.value = made; link.select();
    const copied = navigator.clipboard?.writeText(made) ?? Promise.reject(new Error());
    copied.then(() => { status.textContent = "Copied: opening or restoring it brings back mixture, text and site."; }, () => { status.textContent = "Copy it from the field: opening or restoring it brings back mixture, text and site."; });
  }
  const keeping = () => h("div", { class: "hl-live", style: "margin-top:12px" },
    mixes() ? h("div", { class: "hl-row" }, name, h("button", { class: "hl-main", onclick: save }, "Save mixture as a task")) : null,
    h("div", { class: "hl-row" }, folder, h("button", { onclick: keep }, "Save the model in a folder"), h("span", { class: "hl-note", style: "margin:0" }, `inside ${model.get("folder")}`)),
    h("div", { class: "hl-row" }, h("button", { onclick: copy }, inPage ? "Copy a link to this state" : "Copy this state"), link, h("button", { onclick: restore }, "Restore")));

  const section = (title, ...children) => h("div", { style: "margin-top:14px" }, typeof title === "string" ? h("h4", {}, title) : title, ...children);
  const build = () => clear(body,
    h("div", { class: "hl-columns" }, h("div", {}, sliders, more, adder, far), h("div", {}, field, examples, h("h4", { style: "margin-top:8px" }, "The model's answer"), bars, scales, said)),
    section(h("div", { class: "hl-row", style: "margin-bottom:4px" }, h("h4", { style: "margin:0" }, "The adapter that is written"), where), canvas, seen),
    mixes() ? section("Two mixtures side by side", pairRow, verdict, table) : null,
    mixes() ? section(wayTitle, heads, chart, legend) : null, keeping());

  // Listen first, then draw: what arrives in between would be missed
  const late = (what, draw) => model.on(`change:${what}`, draw);
  late("view", () => { drawView(); kernel.timed("view"); });
  late("answer", () => { drawAnswer(); kernel.timed("answer"); });
  late("path", drawPath);
  late("pair", () => { [a, b] = model.get("pair"); drawHeads(); drawPath(); });
  late("about", () => { sub.textContent = model.get("about"); });
  late("presets", drawExamples);
  late("sides", drawSides);
  late("held", drawSides);
  late("working", () => { busy(); drawPath(); drawExamples(); });
  late("mixes", () => all());
  late("folder", () => all());
  late("sites", drawSites);
  late("site", () => { site = model.get("site"); drawSites(); });
  late("tasks", () => { drawHeads(); if (saved && tasks().some((t) => t.name === saved)) { name.value = ""; saved = ""; } drawSliders(); drawExamples(); });
  late("text", () => { if (document.activeElement !== field) { text = model.get("text"); field.value = text; } });
  late("mixture", () => {
    const theirs = model.get("mixture"), ours = shares(), names = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
    if ((kernel.busy() && gesture !== "restore") || [...names].every((n) => Math.abs((theirs[n] ?? 0) - (ours[n] ?? 0)) < 1e-3)) return;
    if (Object.keys(weights).length && gesture !== "restore") remember("elsewhere");
    weights = crowd() ? { ...theirs } : { ...Object.fromEntries(Object.keys(weights).map((n) => [n, 0])), ...theirs };  // of many, those that are left are put away
    proportions = { ...weights };
    drawSliders(); moveCursor(); wantExamples();
  });
  const all = () => { build(); drawSliders(); drawAnswer(); drawView(); drawSites(); drawExamples(); drawHistory(); if (mixes()) { drawSides(); drawHeads(); drawPath(); } busy(); };
  all();
  requestAnimationFrame(() => { drawView(); if (inPage && !model.frozen && location.hash.includes("mix=")) { gesture = "restore"; at = performance.now(); kernel.ask({ restore: location.hash }); } });
}
export default { render };
