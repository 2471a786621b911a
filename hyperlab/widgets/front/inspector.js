// Inside the adapter: norms over sites, the matrices of one site, their spectrum, a difference, what its units do at each token of a text,
// and what the answer becomes when parts are switched off or swapped.
function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "inspector", "Inside the generated adapter", "");
  let zoom = "fit", map = "diverging", off = [...model.get("off")], other = null, rows = false;
  const grid = h("div"), pictures = h("div"), spectrum = h("div"), over = h("div"), units = h("div"), switches = h("div"), patch = h("div"), tools = h("div", { class: "hl-row" }), scale = h("span");
  const inWords = (mixture) => { const parts = Object.entries(mixture); return parts.length === 1 ? parts[0][0] : parts.map(([n, w]) => `${two(w)} ${briefly(model.get("tasks").map((t) => t.name))(n)}`).join(" + "); };
  const working = () => Boolean(model.get("working")?.what);
  receiveFiles(model);

  // A table of sites: rows are stack and place, columns are layers
  function siteTable(sites, cell) {
    const rows = [...new Set(sites.map((x) => x.row))], columns = [...new Set(sites.map((x) => x.layer))].sort((x, y) => x - y);
    const head = (layer) => h("th", { scope: "col", style: "text-align:center" }, layer < 0 ? "–" : String(layer));
    return h("div", { class: "hl-scroll" }, h("table", { class: "hl-grid" }, h("thead", {}, h("tr", {}, h("td", {}), columns.map(head))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row), columns.map((layer) => {
        const site = sites.find((x) => x.row === row && x.layer === layer);
        return h("td", {}, site ? cell(site) : null);
      }))))));
  }

  // the norms; arrow keys walk over the table
  function drawGrid() {
    const sites = model.get("sites"), chosen = model.get("site"), [, high] = extent(sites.map((x) => x.norm)), against = model.get("against");
    const focused = grid.contains(document.activeElement), ground = groundOf(root);
    const cell = (site) => {
      const share = high > 0 && site.norm != null ? site.norm / high : 0, dark = off.includes(site.name), said = `${site.name}, norm ${short(site.norm)}${dark ? ", switched off" : ""}`;
      return h("button", { "data-site": site.name, "data-off": dark, "aria-pressed": String(site.name === chosen), tabindex: site.name === chosen ? 0 : -1, title: said, "aria-label": said,
        style: `background:rgb(${shade(-share, "diverging", ground)})`, onclick: () => kernel.ask({ site: site.name }) });
    };
    clear(grid, h("h4", {}, against ? `Norm of the difference to ${against} at each site, by layer` : "Norm at each site, by layer"), siteTable(sites, cell),
      h("p", { class: "hl-note" }, sites.some((x) => x.norm != null) ? `Stronger blue is larger; the largest is ${short(high)}.` : ""));
    if (focused) grid.querySelector('[aria-pressed="true"]')?.focus();
    drawSwitches();
  }
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step) return;
    event.preventDefault(); event.stopPropagation();
    const rows = [...grid.querySelectorAll("tbody tr")].map((r) => [...r.querySelectorAll("td")].map((c) => c.querySelector("button")));
    const y = rows.findIndex((r) => r.includes(document.activeElement)), x = rows[y]?.indexOf(document.activeElement) ?? 0;
    const to = rows[y + step[0]]?.[x + step[1]];
    if (to) { to.focus(); kernel.ask({ site: to.dataset.site }); }
  });

  function drawPictures() {
    const view = model.get("view"), scroll = pictures.querySelector(".hl-scroll")?.scrollLeft ?? 0, list = view.pictures ?? [];
    clear(scale, list.length ? swatch(view.limit, map) : null);
    clear(pictures, list.map((picture) => {
      const canvas = h("canvas", { class: "hl-heat", role: "img", "data-name": picture.name, "aria-label": `${picture.title}, ${picture.rows.length} by ${picture.rows[0].length}` });
      const where = h("span", { class: "hl-note" });
      const width = picture.rows[0].length, height = picture.rows.length, times = zoom === "fit" ? null : Number(zoom);
      if (times) { canvas.style.width = `${width * times}px`; canvas.style.maxWidth = "none"; }
      canvas.style.height = `${times ? Math.max(6, height * times) : height === 1 ? 14 : Math.min(150, Math.max(60, height * 6))}px`;
      canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect(), x = Math.floor(((event.clientX - box.left) / box.width) * width), y = Math.floor(((event.clientY - box.top) / box.height) * height);
        const value = picture.rows[y]?.[x];
        where.textContent = value == null ? "" : ` · ${picture.row} ${y}, ${picture.column} ${x}: ${value.toPrecision(3)}`;
      });
      canvas.addEventListener("pointerleave", () => { where.textContent = ""; });
      requestAnimationFrame(() => heat(canvas, picture.rows, view.limit * (picture.scale ?? 1), map));
      return h("figure", { style: "margin:0 0 10px;min-width:0" }, h("div", { class: "hl-scroll" }, canvas),
        h("figcaption", { class: "hl-note", style: "margin-top:2px" }, `${picture.title} (${height} × ${width})`, where));
    }));
    const box = pictures.querySelector(".hl-scroll");
    if (box) box.scrollLeft = scroll;
    sub.textContent = view.title ?? model.get("about");
    root.dataset.limit = view.limit ?? "";
  }

  const drawSpectrum = fitted(spectrum, (width) => {
    const values = model.get("view").spectrum ?? [], height = 120;
    if (!values.length || !(values[0] > 0)) return clear(spectrum);
    const { X, Y, group } = axes(width, height, [0.5, values.length + 0.5], [0, values[0] || 1], { xTitle: "direction", yTitle: "singular value" });
    const wide = Math.max(1, (X(2) - X(1)) * 0.7);
    clear(spectrum, h("h4", {}, `Singular values, effective rank ${model.get("view").rank.toFixed(1)} of ${values.length}`), s("svg", { width, height, role: "img", "aria-label": "singular values" }, group,
      values.map((v, i) => s("rect", { x: X(i + 1) - wide / 2, y: Y(v), width: wide, height: Math.max(0, Y(0) - Y(v)), fill: "var(--hl-accent)" }))));
  });

  function drawOver() {
    const table = model.get("norms");
    if (!table.rows?.length) return clear(over);
    const canvas = h("canvas", { class: "hl-heat", role: "img", "aria-label": "norms of all tasks at all sites" }), [low, high] = extent(table.rows.flat());
    canvas.style.height = `${Math.min(260, 13 * table.rows.length)}px`;
    const where = h("p", { class: "hl-note" }, `Rows: ${table.more ? "the first " : ""}${table.tasks.length} tasks${table.more ? ` of ${table.tasks.length + table.more}` : ""}, columns: ${table.sites.length} sites; from ${short(low)} (pale) to ${short(high)}.`), rest = where.textContent;
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect(), x = Math.floor(((event.clientX - box.left) / box.width) * table.sites.length), y = Math.floor(((event.clientY - box.top) / box.height) * table.tasks.length);
      if (table.rows[y]?.[x] != null) where.textContent = `${table.tasks[y]} at ${table.sites[x]}: ${short(table.rows[y][x])}`;
    });
    canvas.addEventListener("pointerleave", () => { where.textContent = rest; });
    requestAnimationFrame(() => heat(canvas, table.rows.map((r) => r.map((v) => -(v - low) / (high - low || 1))), 1));
    const names = h("div", { style: "display:grid;font-size:10.5px;line-height:13px;text-align:right;color:var(--hl-soft)" }, table.tasks.length <= 20 ? table.tasks.map((t) => h("span", {}, t)) : null);
    clear(over, h("h4", {}, table.against ? `Norms of all tasks' differences to ${table.against}` : "Norms of all tasks at all sites"), h("div", { style: "display:grid;grid-template-columns:auto 1fr;gap:6px" }, names, canvas), where);
  }

  const text = h("textarea", { "aria-label": "text that the units react to", rows: 2, spellcheck: "false", oninput: () => kernel.ask({ text: text.value }) });
  text.value = model.get("text");
  text.disabled = Boolean(model.frozen);
  text.addEventListener("keydown", (e) => e.stopPropagation());
  const list = h("div");
  function drawUnits() {
    const found = model.get("reactions"), against = model.get("against");
    clear(list, found.length ? [h("h4", {}, against ? `Units that differ most from those of ${against}` : "Units that react most, at all sites"),
      h("div", { class: "hl-scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["site", "unit", "reacts to", against ? "difference" : "activation"].map((t, i) => h("th", { class: i % 2 ? "hl-number" : "", scope: "col" }, t)))),
        h("tbody", {}, found.map((r) => h("tr", {}, h("td", {}, r.site), h("td", { class: "hl-number" }, String(r.unit)), h("td", {}, spoken(r.token)), h("td", { class: "hl-number" }, r.activation.toPrecision(3)))))))]
      : h("p", { class: "hl-note" }, text.value.trim() ? "The adapters of this method have no hidden units." : "Type a text to see what the hidden units do with it."));
  }

  // Token by unit: a row for each unit, a column for each token; the buttons at the left switch units off
  const spoken = (token) => (token.trim() === "</s>" ? "(end)" : token.trim() || "␣");
  function drawTokens() {
    const table = model.get("units"), height = 17;
    if (!table.rows?.length) return clear(units);
    const focused = units.contains(document.activeElement) ? document.activeElement.dataset.unit : null;
    const name = (i) => `${table.site}/${i}`, canvas = h("canvas", { class: "hl-heat", role: "img", "data-tokens": table.tokens.length, "aria-label": `activations of ${table.rows.length} units at ${table.tokens.length} tokens` });
    canvas.style.height = `${height * table.rows.length}px`;
    const rest = `Rows are hidden units, columns tokens of the ${table.site.startsWith("decoder") && table.tokens[0] === "(start)" ? "answer" : "text"}; colours span ±${short(table.limit)}. Press a unit's number to switch it off.`;
    const note = h("p", { class: "hl-note" }, rest);
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect(), x = Math.floor(((event.clientX - box.left) / box.width) * table.tokens.length), y = Math.floor(((event.clientY - box.top) / box.height) * table.rows.length);
      const value = table.rows[y]?.[x];
      if (value != null) note.textContent = `unit ${y} at “${spoken(table.tokens[x])}”: ${value.toPrecision(3)}`;
    });
    canvas.addEventListener("pointerleave", () => { note.textContent = rest; });
    requestAnimationFrame(() => heat(canvas, table.rows, table.limit, map));
    const silent = (i) => off.includes(name(i)), first = Math.max(0, table.rows.findIndex((_, i) => String(i) === focused));
    const buttons = h("div", { class: "hl-unit-buttons", role: "group", "aria-label": "units to switch off" }, table.rows.map((_, i) =>
      h("button", { "data-unit": i, tabindex: i === first ? 0 : -1, "aria-pressed": String(silent(i)), "aria-label": `switch off unit ${i}`, style: `height:${height}px`, onclick: () => toggle([name(i)]) }, String(i))));
    buttons.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault(); event.stopPropagation();
      buttons.children[[...buttons.children].indexOf(document.activeElement) + step]?.focus();
    });
    clear(units, h("h4", {}, `Every unit at every token: ${table.site.replaceAll(".", " · ")}${model.get("against") ? `, minus ${model.get("against")}` : ""}`),
      h("div", { class: "hl-scroll", tabindex: 0, role: "region", "aria-label": "units and tokens" }, h("div", { class: "hl-tokens", style: `--tokens:${table.tokens.length}` },
        h("span", {}), h("div", { class: "hl-token-names", "aria-hidden": "true" }, table.tokens.map((t) => h("span", {}, spoken(t)))), buttons, canvas)), note);
    if (focused != null) buttons.querySelector(`[data-unit="${focused}"]`)?.focus();
  }

  // Switches: what is off, and what the model answers then
  function toggle(names) {
    off = names.every((n) => off.includes(n)) ? off.filter((n) => !names.includes(n)) : [...off, ...names.filter((n) => !off.includes(n))];
    kernel.ask({ off });
    drawGrid(); markUnits();
  }
  const markUnits = () => units.querySelectorAll("[data-unit]").forEach((b) => b.setAttribute("aria-pressed", String(off.includes(`${model.get("units").site}/${b.dataset.unit}`))));
  const press = { site: h("button", { onclick: () => toggle([model.get("site")]) }), layer: h("button", { onclick: () => toggle(neighbours()) }), all: h("button", { onclick: () => toggle([...off]) }, "Switch all on") };
  const switchRow = h("div", { class: "hl-row hl-live", style: "margin:8px 0 0" }, press.site, press.layer, press.all), outcome = h("div");
  const neighbours = () => { const [stack, layer] = model.get("site").split("."); return model.get("sites").map((x) => x.name).filter((n) => n.startsWith(`${stack}.${layer}.`)); };
  function drawSwitches() {
    const site = model.get("site"), [stack, layer] = site.split("."), near = neighbours(), every = near.length && near.every((n) => off.includes(n));
    press.site.textContent = off.includes(site) ? "Switch this site on" : "Switch this site off";
    press.layer.textContent = `Switch ${stack} layer ${layer} ${every ? "on" : "off"}`;
    press.layer.hidden = near.length < 2; press.all.hidden = !off.length;
    for (const [name, button] of Object.entries(press)) button.setAttribute("aria-pressed", String(name === "site" ? off.includes(site) : name === "layer" ? Boolean(every) : false));
    press.all.removeAttribute("aria-pressed");
    if (!switches.childElementCount) clear(switches, switchRow, outcome);
    const found = model.get("switched"), count = (n, what) => (n ? `${n} ${what}${n > 1 ? "s" : ""}` : "");
    if (!off.length || !found.words) return clear(outcome, h("p", { class: "hl-note" }, off.length ? "Type a text to see its answer change." : "Switch a site, a layer or single units off to see the answer change."));
    const what = [count(off.filter((n) => !n.includes("/")).length, "site"), count(off.filter((n) => n.includes("/")).length, "unit")].filter(Boolean).join(" and ");
    clear(outcome, h("h4", { style: "margin-top:8px" }, `The answer with ${what} switched off`),
      h("p", { class: "hl-note", style: "margin:0 0 6px", "data-outcome": "" }, found.before === found.after ? `Still “${found.after}”.` : `“${found.after}”, not “${found.before}” as before.`),
      h("div", { class: "hl-changes" }, found.words.map((w) => [h("span", {}, w.word), h("div", { class: "hl-change" }, h("div", { style: `width:${(100 * w.after).toFixed(1)}%` }), h("i", { style: `left:${(100 * w.before).toFixed(1)}%` })), h("output", {}, `${two(w.before)} → ${two(w.after)}`)])),
      found.means.map((m) => h("p", { class: "hl-note" }, `Mean on the scale from ${m.low} to ${m.high}: ${two(m.before)} → ${two(m.after)}.`)),
      found.words.length ? h("p", { class: "hl-note" }, "Bars are with the switches, the thin line is without.") : null);
  }

  // Patching: every site in turn gets another task's adapter, or none
  function drawPatch() {
    const names = model.get("tasks"), found = model.get("patch"), mixture = model.get("mixture");
    other ??= names.find((t) => !(t.name in mixture))?.name ?? "";
    const go = h("button", { class: "hl-main", disabled: working(), onclick: () => kernel.ask({ patch: { other, rows } }) }, "Change site by site");
    const orders = h("div", { class: "hl-row hl-live", style: "margin-bottom:4px" }, choice("put in the adapter of", [["", "put in no adapter"], ...taskOptions(names, (n) => `put in ${n}`)], other, (v) => { other = v; }),
      choice("measured on", [["", "on the text"], ["rows", "on validation rows"]], rows ? "rows" : "", (v) => { rows = Boolean(v); }), go);
    const effects = found.effects ?? [], [low, high] = extent(effects.map((x) => x.change)), limit = Math.max(Math.abs(low), Math.abs(high), 1e-6), ground = groundOf(root);
    const cell = (effect) => {
      const colour = shade(effect.change / limit, "diverging", ground), light = (0.2126 * (colour[0] / 255) ** 2.2 + 0.7152 * (colour[1] / 255) ** 2.2 + 0.0722 * (colour[2] / 255) ** 2.2) > 0.18;
      return h("div", { class: "hl-effect", "data-effect": effect.name, title: `${effect.name}: ${effect.change.toFixed(3)}`, style: `background:rgb(${colour});color:${light ? "#000" : "#fff"}` }, effect.change.toFixed(2).replace("-", "−"));
    };
    const measured = found.rows ? `of the wanted answers to ${found.count} validation rows, on average,` : `of “${found.answer}”`;
    const put = found.other ? `gets ${found.other}'s adapter` : "has no adapter";
    clear(patch, h("h4", {}, "Which site makes the difference"), orders, effects.length ? [siteTable(effects, cell),
      h("p", { class: "hl-note", "data-patch": found.done ? "done" : "" }, `Change of log p ${measured} when this site alone ${put}, and all others stay ${found.of}'s; −0.69 halves p. ` + (found.all == null ? (found.done ? "Stopped before the end." : "") : `All sites together: ${found.all.toFixed(2).replace("-", "−")}.`))]
      : h("p", { class: "hl-note" }, "For every site, the weights of the task above are replaced there and nowhere else, and the change of the answer's log-probability is measured."));
  }

  // One image of the site as it is shown: title, scale, every matrix with its name
  function drawnImage() {
    const view = model.get("view"), list = view.pictures ?? [], style = getComputedStyle(root), wide = Math.max(...list.map((p) => p.rows[0].length)), times = Math.max(2, Math.min(8, Math.round(1024 / wide)));
    const tall = (p) => Math.max(12, p.rows.length * times), canvas = h("canvas"), pen = canvas.getContext("2d"), margin = 24;
    canvas.width = Math.max(720, wide * times + 2 * margin);
    canvas.height = 84 + list.reduce((sum, p) => sum + tall(p) + 40, 0);
    pen.fillStyle = style.backgroundColor; pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = style.color; pen.imageSmoothingEnabled = false;
    pen.font = "600 17px system-ui, sans-serif"; pen.fillText(view.title ?? "", margin, 34);
    pen.font = "13px system-ui, sans-serif"; pen.fillText(`colours span ±${short(view.limit)}, ${map === "diverging" ? "blue is negative, orange positive" : "dark is negative, light positive"}`, margin, 56);
    let y = 84;
    for (const picture of list) {
      const small = h("canvas");
      root.append(small); heat(small, picture.rows, view.limit * (picture.scale ?? 1), map); small.remove();
      pen.drawImage(small, margin, y, picture.rows[0].length * times, tall(picture));
      pen.fillText(`${picture.title} (${picture.rows.length} × ${picture.rows[0].length})`, margin, y + tall(picture) + 18);
      y += tall(picture) + 40;
    }
    return canvas;
  }

  function drawTools() {
    const all = model.get("tasks"), mixture = model.get("mixture"), only = Object.keys(mixture).length === 1 ? Object.keys(mixture)[0] : "";
    const exports = (kind) => h("button", { class: "hl-live", "aria-label": `save all weights as ${kind}`, onclick: () => kernel.ask({ export: kind }) }, kind);
    const image = h("button", { "aria-label": "save the matrices as a PNG image", onclick: () => drawnImage().toBlob((blob) => download(`${model.get("site")}.png`, [blob], "image/png")) }, "PNG");
    const shown = h("div", { class: "hl-row hl-live", style: "margin:0" },
      choice("task or mixture", [...(only ? [] : [["", inWords(mixture)]]), ...taskOptions(all)], only, (v) => { if (v) kernel.ask({ task: v }); }),
      choice("compare with", [["", "no comparison"], ...taskOptions(all, (n) => `minus ${n}`)], model.get("against"), (v) => kernel.ask({ against: v })));
    const focused = tools.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    clear(tools, shown, choice("zoom", [["fit", "zoom: fit"], ["4", "4 pixels"], ["8", "8 pixels"], ["16", "16 pixels"]], zoom, (v) => { zoom = v; drawPictures(); }),
      choice("colours", [["diverging", "blue–orange"], ["grey-safe", "safe in grey"]], map, (v) => { map = v; drawPictures(); drawTokens(); }), scale, h("span", { style: "flex:1" }), image, exports("npz"), exports("safetensors"));
    if (focused) [...tools.querySelectorAll("[aria-label]")].find((x) => x.getAttribute("aria-label") === focused)?.focus();
  }

  const parts = [tools, h("div", { class: "hl-two" }, h("div", { class: "hl-stack" }, grid, spectrum), pictures,
    h("div", { class: "hl-stack" }, h("div", {}, h("h4", {}, "What it does to a text"), text, switches), list), h("div", { class: "hl-stack" }, units, patch, over))];
  function all() {
    if (!model.get("sites").length) { clear(body, h("p", {}, model.get("about"))); return; }
    if (tools.parentElement !== body) clear(body, parts);
    drawTools(); drawGrid(); drawPictures(); drawSpectrum(); drawOver(); drawUnits(); drawTokens(); drawPatch();
  }
  // Listen first, then draw: what arrives in between would be missed
  model.on("change:sites", () => { if (tools.parentElement === body) drawGrid(); else all(); });
  model.on("change:about", () => { if (!model.get("sites").length) all(); else drawPictures(); });
  model.on("change:site", drawGrid);
  model.on("change:against", () => { drawTools(); drawGrid(); });
  model.on("change:view", () => { drawPictures(); drawSpectrum(); kernel.timed("view"); });
  model.on("change:norms", drawOver);
  model.on("change:reactions", drawUnits);
  model.on("change:units", () => { drawTokens(); kernel.timed("units"); });
  model.on("change:off", () => { if (!kernel.busy()) off = [...model.get("off")]; drawGrid(); markUnits(); });
  model.on("change:switched", () => { drawSwitches(); kernel.timed("switched"); });
  model.on("change:patch", drawPatch);
  model.on("change:working", drawPatch);
  model.on("change:tasks", () => { drawTools(); drawPatch(); });
  model.on("change:mixture", drawTools);
  model.on("change:text", () => { if (document.activeElement !== text) text.value = model.get("text"); drawUnits(); });
  requestAnimationFrame(all);
}
export default { render };
