// Inside the adapter: norms over sites, the matrices of one site, their spectrum, a difference, and the units that react to a text.
function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "inspector", "Inside the generated adapter", "");
  let zoom = "fit", map = "diverging";
  const grid = h("div"), pictures = h("div"), spectrum = h("div"), over = h("div"), units = h("div"), tools = h("div", { class: "hl-row" }), scale = h("span");
  receiveFiles(model);

  // sites: rows are stack and place, columns are layers; arrow keys walk over the table
  function drawGrid() {
    const sites = model.get("sites"), chosen = model.get("site"), norms = sites.map((x) => x.norm), [, high] = extent(norms);
    const rows = [...new Set(sites.map((x) => x.row))], columns = [...new Set(sites.map((x) => x.layer))].sort((x, y) => x - y);
    const focused = grid.contains(document.activeElement), ground = groundOf(root);
    const cell = (site) => {
      const share = high > 0 ? site.norm / high : 0, colour = shade(-share, "diverging", ground);
      return h("button", { "data-site": site.name, "aria-pressed": String(site.name === chosen), tabindex: site.name === chosen ? 0 : -1, title: `${site.name}: norm ${short(site.norm)}`,
        "aria-label": `${site.name}, norm ${short(site.norm)}`, style: `background:rgb(${colour})`, onclick: () => kernel.ask({ site: site.name }) });
    };
    const head = (layer) => h("th", { scope: "col", style: "text-align:center" }, layer < 0 ? "–" : String(layer));
    clear(grid, h("h4", {}, "Norm at each site, by layer"), h("div", { class: "hl-scroll" }, h("table", { class: "hl-grid" }, h("thead", {}, h("tr", {}, h("th", {}), columns.map(head))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row), columns.map((layer) => {
        const site = sites.find((x) => x.row === row && x.layer === layer);
        return h("td", {}, site ? cell(site) : null);
      })))))), h("p", { class: "hl-note" }, `Stronger blue is larger; the largest is ${short(high)}.`));
    if (focused) grid.querySelector('[aria-pressed="true"]')?.focus();
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
    if (!values.length) return clear(spectrum);
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
    const where = h("p", { class: "hl-note" }, `Rows: ${table.tasks.length} tasks, columns: ${table.sites.length} sites; from ${short(low)} (pale) to ${short(high)}.`), rest = where.textContent;
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect(), x = Math.floor(((event.clientX - box.left) / box.width) * table.sites.length), y = Math.floor(((event.clientY - box.top) / box.height) * table.tasks.length);
      if (table.rows[y]?.[x] != null) where.textContent = `${table.tasks[y]} at ${table.sites[x]}: ${short(table.rows[y][x])}`;
    });
    canvas.addEventListener("pointerleave", () => { where.textContent = rest; });
    requestAnimationFrame(() => heat(canvas, table.rows.map((r) => r.map((v) => -(v - low) / (high - low || 1))), 1));
    const names = h("div", { style: "display:grid;font-size:10.5px;line-height:13px;text-align:right;color:var(--hl-soft)" }, table.tasks.length <= 20 ? table.tasks.map((t) => h("span", {}, t)) : null);
    clear(over, h("h4", {}, "Norms of all tasks at all sites"), h("div", { style: "display:grid;grid-template-columns:auto 1fr;gap:6px" }, names, canvas), where);
  }

  const text = h("textarea", { "aria-label": "text that the units react to", rows: 2, spellcheck: "false", oninput: () => kernel.ask({ text: text.value }) });
  text.value = model.get("text");
  text.disabled = Boolean(model.frozen);
  text.addEventListener("keydown", (e) => e.stopPropagation());
  const list = h("div", { class: "hl-scroll" });
  function drawUnits() {
    const found = model.get("reactions");
    clear(list, found.length ? h("table", {}, h("thead", {}, h("tr", {}, ["site", "unit", "reacts to", "activation"].map((t, i) => h("th", { class: i % 2 ? "hl-number" : "" }, t)))),
      h("tbody", {}, found.map((r) => h("tr", {}, h("td", {}, r.site), h("td", { class: "hl-number" }, String(r.unit)), h("td", {}, r.token), h("td", { class: "hl-number" }, r.activation.toPrecision(3)))))) : h("p", { class: "hl-note" }, "Type a text to see which hidden units react."));
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
    const names = model.get("tasks").map((t) => t.name);
    const exports = (kind) => h("button", { class: "hl-live", onclick: () => kernel.ask({ export: kind }) }, kind);
    const image = h("button", { "aria-label": "save the matrices as a PNG image", onclick: () => drawnImage().toBlob((blob) => download(`${model.get("site")}.png`, [blob], "image/png")) }, "PNG");
    const shown = h("div", { class: "hl-row hl-live", style: "margin:0" },
      choice("task or mixture", [["", "the mixture"], ...names], model.get("task"), (v) => kernel.ask({ task: v })),
      choice("compare with", [["", "no comparison"], ...names.map((n) => [n, `minus ${n}`])], model.get("against"), (v) => kernel.ask({ against: v })));
    clear(tools, shown, choice("zoom", [["fit", "zoom: fit"], ["4", "4 pixels"], ["8", "8 pixels"], ["16", "16 pixels"]], zoom, (v) => { zoom = v; drawPictures(); }),
      choice("colours", [["diverging", "blue–orange"], ["grey-safe", "safe in grey"]], map, (v) => { map = v; drawPictures(); }), scale, h("span", { style: "flex:1" }), image, exports("npz"), exports("safetensors"));
  }

  const parts = [tools, h("div", { class: "hl-two" }, h("div", { class: "hl-stack" }, grid, spectrum), h("div", {}, pictures),
    h("div", {}, h("h4", {}, "Units that react to a text"), text, list), over)];
  function all() {
    if (!model.get("sites").length) { clear(body, h("p", {}, model.get("about"))); return; }
    if (tools.parentElement !== body) clear(body, parts);
    drawTools(); drawGrid(); drawPictures(); drawSpectrum(); drawOver(); drawUnits();
  }
  // Listen first, then draw: what arrives in between would be missed
  model.on("change:sites", () => { if (tools.parentElement === body) drawGrid(); else all(); });
  model.on("change:about", () => { if (!model.get("sites").length) all(); });
  model.on("change:site", drawGrid);
  model.on("change:view", () => { drawPictures(); drawSpectrum(); kernel.timed("view"); });
  model.on("change:norms", drawOver);
  model.on("change:reactions", drawUnits);
  model.on("change:tasks", drawTools);
  model.on("change:task", drawTools);
  model.on("change:text", () => { if (document.activeElement !== text) text.value = model.get("text"); });
  requestAnimationFrame(all);
}
export default { render };
