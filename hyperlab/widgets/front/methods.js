// All methods as points: two axes to choose, what nothing beats, filters, and a card for each with a line to copy.
function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "methods", "Methods", "What each method scores, costs and can do. Click a point for when to use it, and a line to copy.");
  let shown = { ...model.get("shown") };
  const tools = h("div", { class: "hl-row" }), filters = h("fieldset", { class: "hl-filters" }), chart = h("div", { class: "hl-part" }), missing = h("div", { class: "hl-part" }), card = h("div", { class: "hl-card", tabindex: -1 });
  const axis = (key) => model.get("axes")[key], title = (key) => (key === "trained" ? `trained parameters, ${shown.tasks === 1 ? "one task" : `${nice(shown.tasks)} tasks`} (nano)` : axis(key).title);
  const value = (m, key) => (key === "trained" ? m.first + (shown.tasks - 1) * m.further : key === "memory" || key === "operations" ? model.get("plans")[m.name]?.[key] ?? null : m[key] ?? null);
  const groups = () => [...new Set(model.get("methods").map((m) => m.chapter))];
  const colour = (m) => PALETTE[groups().indexOf(m.chapter) % PALETTE.length], form = (m) => FORMS[groups().indexOf(m.chapter) % FORMS.length];
  const fits = (m) => shown.can.every((k) => m.can.includes(k));
  const set = (change) => { shown = { ...shown, ...change }; draw(); kernel.ask({ shown }); };
  const open = (name) => { set({ open: name }); card.focus({ preventScroll: true }); card.scrollIntoView({ block: "nearest" }); };
  const told = (m, key) => { const v = value(m, key); return v == null ? (key === "score" || key === "time" ? "not measured" : model.get("plans")[m.name]?.unplanned ? "can't be planned" : "not planned yet") : key === "score" ? v.toFixed(1) + (m.spread != null ? ` ± ${m.spread.toFixed(1)}` : "") + ` (${m.seeds} seed${m.seeds > 1 ? "s" : ""}${m.tuned ? "" : ", rates not tuned"})` : nice(v); };

  function frontier(points) {
    const sign = (key) => (axis(key).less ? 1 : -1), beats = (p, q) => { const dx = sign(shown.x) * (p.x - q.x), dy = sign(shown.y) * (p.y - q.y); return dx <= 0 && dy <= 0 && (dx < 0 || dy < 0); };
    return points.filter((q) => !points.some((p) => beats(p, q))).map((p) => p.name);
  }
  const hollow = (m) => [shown.x, shown.y].includes("score") && !m.tuned;
  const drawChart = fitted(chart, (width) => {
    const fitting = model.get("methods").filter(fits), drawable = fitting.filter((m) => value(m, shown.x) != null && value(m, shown.y) != null), positive = (key) => key !== "score" && key !== "time" && drawable.every((m) => value(m, key) > 0);
    const points = drawable.map((m) => ({ name: m.name, label: m.title, x: value(m, shown.x), y: value(m, shown.y), colour: colour(m), shape: form(m), chosen: shown.open === m.name, open: hollow(m), half: shown.y === "score" ? m.spread : null, facts: Object.keys(model.get("axes")).filter((k) => value(m, k) != null).map((k) => [title(k), told(m, k)]) }));
    const best = frontier(points);
    scatter(chart, width, points, { title: `${title(shown.y)} against ${title(shown.x)}`, xTitle: title(shown.x), yTitle: axis(shown.y).title.split(/[,(]/)[0].trim(), logX: positive(shown.x), logY: positive(shown.y), height: width > 700 ? 400 : 330, front: best, better: axis(shown.y).less ? "lower" : "higher", choose: open });
    chart.append(h("p", { class: "hl-note" }, points.length ? `On the dashed line no method is better in both: ${best.map((n) => drawable.find((m) => m.name === n).title).join(", ")}.${drawable.some(hollow) ? " Hollow: trained before its rates were tuned." : ""}` : "No method that fits the filters has both values."));
    const without = fitting.filter((m) => !drawable.includes(m)), why = [shown.x, shown.y].filter((k) => without.some((m) => value(m, k) == null)), waits = model.get("working")?.what && without.some((m) => !model.get("plans")[m.name]);
    clear(missing, without.length ? [h("h4", {}, `Without a ${why.map((k) => (k === "score" ? "measured score" : `value for ${axis(k).title.split(/[,(]/)[0].trim()}`)).join(" or ")}${waits ? " so far" : ""}`), h("div", { class: "hl-row" }, without.map((m) => h("button", { "aria-pressed": String(shown.open === m.name), title: model.get("plans")[m.name]?.unplanned ?? null, onclick: () => open(m.name) }, glyph(form(m), colour(m)), ` ${m.title}`)))] : null);
  });

  function chapter(m) {
    if (!m.chapter) return null;
    let base = model.get("chapters");
    if (!base && !onPage() && !model.frozen) {  // JupyterLab serves the notebooks themselves
      const told = document.getElementById("jupyter-config-data");
      try { base = told ? `${JSON.parse(told.textContent).baseUrl.replace(/\/$/, "")}/lab/tree/` : ""; } catch { base = ""; }
    }
    return base ? h("a", { href: base + m.chapter, target: "_blank", rel: "noopener" }, `Chapter: ${m.chapter}`) : h("span", {}, `Chapter: nbs/${m.chapter}`);
  }
  async function copy(text, said) {
    try { await navigator.clipboard.writeText(text); } catch {  // a page that is not served securely may not write there
      const box = h("textarea", { "aria-hidden": "true", style: "position:fixed;opacity:0" }); box.value = text;
      root.append(box); box.select(); document.execCommand("copy"); box.remove();
    }
    said.textContent = "Copied.";
  }
  function drawCard() {
    const m = model.get("methods").find((one) => one.name === shown.open);
    card.hidden = !m;
    if (!m) return clear(card);
    const said = h("span", { class: "hl-note", role: "status" });
    card.setAttribute("aria-label", m.title); card.setAttribute("role", "group");
    clear(card, h("div", { class: "hl-head" }, h("h4", {}, glyph(form(m), colour(m)), ` ${m.title}`), h("code", {}, m.name), h("span", { class: "hl-note" }, m.paper)), h("p", {}, m.does),
      h("dl", {}, m.when ? [h("dt", {}, "When"), h("dd", {}, m.when)] : null, m.when_not ? [h("dt", {}, "When not"), h("dd", {}, m.when_not)] : null,
        h("dt", {}, "Can"), h("dd", {}, m.can.length ? m.can.map((k) => model.get("can")[k]).join("; ") : "nothing of what the filters ask for"),
        ["score", "trained", "memory", "time"].map((k) => [h("dt", {}, k), h("dd", {}, `${told(m, k)}${value(m, k) == null ? "" : `: ${title(k)}`}`)]), h("dt", {}, "size"), h("dd", {}, m.on_t5), h("dt", {}, "recipe of"), h("dd", {}, m.recipe)),
      h("pre", { tabindex: 0, "aria-label": "code" }, h("code", {}, m.code)), h("div", { class: "hl-row" }, h("button", { class: "hl-main", onclick: () => copy(m.code, said) }, "Copy"), said, chapter(m)));
  }
  function draw() {
    const keys = Object.entries(model.get("axes")).map(([k, a]) => [k, a.title]);
    if (!tools.childNodes.length) {
      clear(tools, h("label", {}, "up ", choice("vertical axis", keys, shown.y, (y) => set({ y }))), h("label", {}, "across ", choice("horizontal axis", keys, shown.x, (x) => set({ x }))),
        h("label", {}, "tasks ", choice("number of tasks", [1, 2, 8, 64, 1000].map((n) => [String(n), nice(n)]), String(shown.tasks), (n) => set({ tasks: Number(n) }))));
      clear(filters, h("legend", {}, "Only methods for which this holds"), Object.entries(model.get("can")).map(([key, said]) => h("label", {}, h("input", { type: "checkbox", checked: shown.can.includes(key), onchange: (e) => set({ can: e.target.checked ? [...shown.can, key] : shown.can.filter((k) => k !== key) }) }), ` ${said}`)));
    }
    const fitting = model.get("methods").filter(fits).length;
    count.textContent = `${fitting} of ${model.get("methods").length} methods.`;
    drawChart(); drawCard();
  }
  const count = h("p", { class: "hl-note", role: "status" });
  clear(body, tools, filters, count, h("div", { class: "hl-plots hl-methods-plots" }, h("div", {}, chart, missing), card));
  for (const name of ["plans", "working"]) model.on(`change:${name}`, () => { drawChart(); drawCard(); });
  model.on("change:methods", draw);
  draw();
}
export default { render };
