// What all panels share: elements, controls, heat maps, and a line to the kernel that never runs full.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const clear = (node, ...children) => { node.replaceChildren(...children.flat(Infinity).filter((c) => c != null)); return node; };
const two = (x) => (Number.isFinite(x) ? x.toFixed(2) : "–");
const short = (x) => (x == null || !Number.isFinite(x) ? "–" : Math.abs(x) >= 1e6 ? Number((x / 1e6).toPrecision(3)) + " M"
  : Math.abs(x) >= 1e4 ? Number((x / 1e3).toPrecision(3)) + " k" : Number(x.toPrecision(3)).toString());
const ink = (colour) => (colour === "#000000" ? "currentColor" : colour);  // black ink has to turn white in the dark

// Families differ in shape as well as in colour, so that a grey print still tells them apart. All have about the same area.
const turned = (count, radius, start) => Array.from({ length: count }, (_, i) => { const a = start + (2 * Math.PI * i) / count; return [radius * Math.cos(a), radius * Math.sin(a)]; });
const UP = -Math.PI / 2;
const OUTLINES = {
  circle: turned(24, 1, UP), square: turned(4, 1.25, Math.PI / 4), diamond: turned(4, 1.3, UP), "triangle-up": turned(3, 1.45, UP), "triangle-down": turned(3, 1.45, -UP),
  hexagon: turned(6, 1.1, UP), pentagon: turned(5, 1.2, UP), star: turned(10, 1.5, UP).map(([x, y], i) => (i % 2 ? [x * 0.45, y * 0.45] : [x, y])),
  cross: [[-0.42, -1.2], [0.42, -1.2], [0.42, -0.42], [1.2, -0.42], [1.2, 0.42], [0.42, 0.42], [0.42, 1.2], [-0.42, 1.2], [-0.42, 0.42], [-1.2, 0.42], [-1.2, -0.42], [-0.42, -0.42]],
};
OUTLINES.x = OUTLINES.cross.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]);
const outline = (shape, x, y, r) => (OUTLINES[shape] ?? OUTLINES.circle).map(([dx, dy], i) => `${i ? "L" : "M"}${(x + r * dx).toFixed(2)} ${(y + r * dy).toFixed(2)}`).join("") + "Z";
const marker = (shape, x, y, r, colour, open = false) => s("path", { d: outline(shape, x, y, open ? r * 0.9 : r), "data-shape": shape ?? "circle", fill: open ? "var(--hl-card)" : colour, stroke: colour, "stroke-width": open ? 2.4 : 1, "stroke-linejoin": "round" });
const glyph = (shape, colour, open = false) => s("svg", { class: "hl-glyph", width: 14, height: 14, "aria-hidden": "true" }, marker(shape, 7, 7, 4.6, ink(colour), open));
const stroke = (colour, dash, width = 2.2) => s("svg", { class: "hl-glyph", width: 30, height: 10, "aria-hidden": "true" }, s("path", { d: "M1 5H29", fill: "none", stroke: ink(colour), "stroke-width": width, "stroke-dasharray": dash }));

// A panel whose kernel is gone says so and takes no more orders; what it shows can still be read.
// A served page has no cells: there the reader reloads.
const onPage = () => document.body.dataset.voila !== undefined;
const wakes = () => (onPage() ? "reload the page to wake this panel." : "run the cell again to wake this panel.");
const RESTARTED = () => `The kernel was restarted: ${wakes()}`;
const GONE = () => `The kernel is gone: ${onPage() ? "" : "start it and "}${wakes()}`;
const CUT = "The connection to the kernel is lost: this panel shows what it heard last.";
function watch(model, root, body, status) {
  const state = { gone: false }, kernel = model.widget_manager?.kernel;
  const sleep = (why, final) => {
    state.gone ||= final;
    root.classList.add("hl-asleep"); body.inert = true; status.textContent = why;
  };
  const wake = () => { if (state.gone) return; root.classList.remove("hl-asleep"); body.inert = false; status.textContent = model.get("notice") ?? ""; };
  if (model.frozen) return state;
  model.on("comm_live_update", () => sleep(RESTARTED(), true));
  kernel?.statusChanged?.connect((_, now) => { if (now === "restarting" || now === "autorestarting") sleep(RESTARTED(), true); else if (now === "dead" || now === "terminating") sleep(GONE(), true); });
  kernel?.connectionStatusChanged?.connect((_, now) => { if (now === "connected") wake(); else if (!state.gone) sleep(CUT, false); });
  kernel?.disposed?.connect?.(() => sleep(GONE(), true));
  return state;
}

// One question at a time: while the kernel works only the newest wish is kept, so that a slider never queues up work.
function line(model, root, status, health) {
  let number = model.get("answered") ?? 0, waiting = false, next = null, timer = null, slow = null, since = 0;
  const send = (wish) => {
    waiting = true; since = performance.now(); number += 1;
    clearTimeout(timer); clearTimeout(slow);
    slow = setTimeout(() => root.classList.add("hl-busy"), 500);
    timer = setTimeout(() => { if (!health.gone) status.textContent = onPage() ? "Still waiting for an answer: the machine may be busy." : "Still waiting for the kernel: it may be busy with another cell."; }, 20000);
    model.set("asked", { ...wish, number });
    model.save_changes();
  };
  const timed = (what) => requestAnimationFrame(() => { root.dataset[what + "Ms"] = (performance.now() - since).toFixed(1); });
  model.on("change:answered", () => {
    if (model.get("answered") < number) return;
    waiting = false; clearTimeout(timer); clearTimeout(slow); root.classList.remove("hl-busy"); timed("whole");
    if (next) { const wish = next; next = null; send(wish); }
  });
  const ask = (wish) => { if (model.frozen || health.gone) return; if (waiting) next = { ...(next ?? {}), ...wish }; else send(wish); };
  return { ask, timed, busy: () => waiting };
}

// Long work of the kernel: what it is, how far, and a button to stop it. The parts are made once, so that a hand can reach the button.
function showWork(model, ask) {
  const words = h("span"), bar = h("progress", { max: 1 }), box = h("div", { class: "hl-working hl-live", hidden: true }, words, bar, h("button", { onclick: () => ask({ stop: true }) }, "Stop"));
  let since = 0, clock = null;
  const draw = () => {
    const { what, done, total } = model.get("working") ?? {};
    if (what && box.hidden) { since = performance.now(); clock = setInterval(draw, 1000); }
    if (!what) clearInterval(clock);
    box.hidden = !what;
    if (!what) return;
    const seconds = Math.round((performance.now() - since) / 1000);
    words.textContent = total ? `${what}: ${Math.round((100 * done) / total)} %` : seconds > 1 ? `${what}: ${seconds} s` : what;
    bar.setAttribute("aria-label", what);
    if (total) bar.value = done / total; else bar.removeAttribute("value");
  };
  model.on("change:working", draw);
  draw();
  return box;
}

function panel(model, el, kind, title, subtitle) {
  const status = h("p", { class: "hl-status", role: "status", "aria-live": "polite" });
  const sub = h("p", { class: "hl-sub" }, subtitle ?? "");
  const body = h("div", { class: "hl-body" });
  // JupyterLab would take arrow keys for itself
  const root = h("section", { class: `hl hl-${kind}`, "aria-label": title, "data-lm-suppress-shortcuts": "true" }, h("h3", {}, title), sub, body);
  const notice = () => { status.textContent = model.get("notice") ?? ""; };
  model.on("change:notice", notice);
  notice();
  if (model.frozen) root.classList.add("hl-frozen");
  onThemeChange(root, () => { for (const canvas of root.querySelectorAll("canvas")) canvas.repaint?.(); });
  const kernel = line(model, root, status, watch(model, root, body, status));
  root.append(showWork(model, kernel.ask), status);
  el.replaceChildren(root);
  return { root, body, sub, status, line: kernel };
}

// The dark switch: of the system, or of JupyterLab, whose theme stands in an attribute of the page.
function onThemeChange(root, redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(() => requestAnimationFrame(redraw)).observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
}

// Beyond this many tasks, lists of them are grouped and searched, and their names lose the word that they all begin with.
const CROWD = 12;
function briefly(names) {
  const heads = new Map(), head = (name) => name.slice(0, name.search(/[-/_]/) + 1);
  for (const name of names) heads.set(head(name), 1 + (heads.get(head(name)) ?? 0));
  const [most, count] = [...heads].sort((p, q) => q[1] - p[1])[0] ?? ["", 0], cut = (name) => (name.startsWith(most) ? name.slice(most.length) : name);
  return names.length > CROWD && count > 0.75 * names.length && new Set(names.map(cut)).size === names.length ? cut : (name) => name;
}
// Tasks as options of a list: saved and described ones say so, and many are grouped by family.
function taskOptions(tasks, words = (name) => name) {
  const brief = briefly(tasks.map((t) => t.name));
  return tasks.map((t) => [t.name, words(brief(t.name)) + (t.added ? (t.parts ? " (saved mixture)" : " (described)") : ""), tasks.length > CROWD ? t.family : null]);
}

// A list to choose from: values, or [value, words, group].
function choice(label, options, value, change) {
  const box = h("select", { "aria-label": label, onchange: () => change(box.value) }), groups = new Map();
  for (const o of options) {
    const [v, t, group] = Array.isArray(o) ? o : [o, o], made = h("option", { value: v, selected: v === value }, t);
    if (group && !groups.has(group)) { groups.set(group, h("optgroup", { label: group })); box.append(groups.get(group)); }
    (groups.get(group) ?? box).append(made);
  }
  return box;
}

function segments(label, options, value, change) {
  const name = "hl" + Math.random().toString(36).slice(2);
  return h("div", { class: "hl-segments", role: "radiogroup", "aria-label": label }, options.map(([v, t]) => {
    const radio = h("input", { type: "radio", name, value: v, checked: v === value, onchange: () => change(v) });
    return h("label", {}, radio, h("span", {}, t));
  }));
}

function slider(label, value, { min = 0, max = 1, step = 0.05, fine = step, colour = null, shown = two } = {}, change) {  // keys take steps, the mouse fine ones
  const out = h("output", {}, shown(value));
  const input = h("input", { type: "range", min, max, step: fine, value, "aria-label": label, oninput: () => { paint(); change(Number(input.value)); } });
  const paint = () => { out.textContent = shown(Number(input.value)); input.style.setProperty("--at", `${(100 * (input.value - min)) / (max - min || 1)}%`); };
  // steps by hand: a page around the panel may keep the browser's own handling of arrow keys from a slider
  input.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity }[event.key];
    if (way === undefined || input.disabled) return;
    event.preventDefault(); event.stopPropagation();
    const to = Math.min(max, Math.max(min, Math.round((Number(input.value) + way * step) * 1e6) / 1e6));
    if (to !== Number(input.value)) { input.value = to; input.dispatchEvent(new Event("input", { bubbles: true })); }
  });
  if (colour) input.style.setProperty("--tint", ink(colour));
  paint();
  return { input, out, set: (v) => { input.value = v; paint(); } };
}

// Heat maps. Zero is the card's own colour in "diverging"; "grey-safe" grows lighter from low to high and survives a black-and-white printer.
const MAPS = {
  dark: { low: [86, 180, 233], middle: null, high: [240, 150, 40] },
  diverging: { low: [0, 90, 160], middle: null, high: [213, 94, 0] },
  "grey-safe": { low: [0, 32, 76], middle: [124, 123, 120], high: [255, 233, 69] },
};
function shade(x, map, ground) {
  const dark = ground[0] + ground[1] + ground[2] < 300, { low, middle, high } = MAPS[dark && map === "diverging" ? "dark" : map], zero = middle ?? ground, end = x < 0 ? low : high, a = Math.min(1, Math.abs(x));
  return zero.map((z, i) => Math.round(z + (end[i] - z) * a));
}
function groundOf(node) {
  const found = getComputedStyle(node.closest(".hl") ?? node).backgroundColor.match(/\d+(\.\d+)?/g);
  return found && found[3] !== "0" ? found.slice(0, 3).map(Number) : [255, 255, 255];
}
function heat(canvas, rows, limit, map = "diverging") {
  canvas.repaint = () => heat(canvas, rows, limit, map);  // zero has the card's colour, which the dark switch changes
  const height = rows.length, width = rows[0]?.length ?? 0;
  if (!width) return;
  canvas.width = width; canvas.height = height;
  const context = canvas.getContext("2d"), image = context.createImageData(width, height), ground = groundOf(canvas);
  for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i += 4) {
    const [r, g, b] = shade(limit ? rows[y][x] / limit : 0, map, ground);
    image.data[i] = r; image.data[i + 1] = g; image.data[i + 2] = b; image.data[i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
function swatch(limit, map) {
  const canvas = h("canvas", { class: "hl-swatch", "aria-hidden": "true" });
  const row = Array.from({ length: 41 }, (_, i) => i / 20 - 1);
  requestAnimationFrame(() => heat(canvas, [row], 1, map));
  return h("span", { class: "hl-scale" }, `−${short(limit)}`, canvas, `+${short(limit)}`);
}

const extent = (values) => {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  return low <= high ? [low, high] : [0, 1];
};
function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, size = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((m) => m * size >= raw) * size;
  const found = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-6; t += step) found.push(Number(t.toPrecision(6)));
  return found;
}
// Axes of a chart: positions, grid, numbers and titles.
function axes(width, height, [x0, x1], [y0, y1], { xTitle = "", yTitle = "", log = false, xTicks = null, left = 44, bottom = 34 } = {}) {
  const f = log ? Math.log10 : (v) => v, right = 12, top = 10;
  const X = (v) => left + ((f(v) - f(x0)) / (f(x1) - f(x0) || 1)) * (width - left - right);
  const Y = (v) => height - bottom - ((v - y0) / (y1 - y0 || 1)) * (height - bottom - top);
  const powers = () => { const found = []; for (let p = Math.floor(f(x0)); p <= Math.ceil(f(x1)); p++) for (const m of [1, 2, 5]) { const v = m * 10 ** p; if (v >= x0 && v <= x1) found.push(v); } return found; };
  const along = xTicks ?? (log ? powers() : ticks(x0, x1)).map((v) => [v, short(v)]);
  const group = s("g", { class: "hl-axes" },
    ticks(y0, y1, 5).map((v) => [s("line", { x1: left, x2: width - right, y1: Y(v), y2: Y(v) }), s("text", { x: left - 6, y: Y(v) + 4, "text-anchor": "end" }, short(v))]),
    along.map(([v, t], i) => s("text", { x: X(v), y: height - bottom + 16, "text-anchor": xTicks ? (i ? "end" : "start") : "middle" }, t)),
    s("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle", class: "hl-title" }, xTitle),
    s("text", { x: 0, y: 0, class: "hl-title", "text-anchor": "middle", transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)` }, yTitle));
  return { X, Y, group };
}
const polyline = (points, attributes) => s("path", { fill: "none", d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""), ...attributes });

function download(name, parts, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob(parts, { type })), link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 5000);
}
function receiveFiles(model) {
  model.on("msg:custom", (message, buffers) => { if (message.file) download(message.file, buffers.map((b) => b.buffer ?? b), message.type); });
}
// The width a drawing has now, and a new drawing whenever that changes.
function fitted(node, draw) {
  let last = 0;
  const now = () => { const width = Math.floor(node.clientWidth); if (width > 40 && Math.abs(width - last) > 2) { last = width; draw(width); } };
  new ResizeObserver(now).observe(node);
  return () => { const width = Math.floor(node.clientWidth) || 480; last = width; draw(width); };
}
