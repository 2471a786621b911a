// Charts with names: lines over updates, and points of two measures. Every mark has a name beside it or in a list, and its value under the pointer or the arrow keys.
const PALETTE = ["#0072B2", "#C27A00", "#00805E", "#D55E00", "#B0578D", "#2A86BD", "#6E6E6E"];
const FORMS = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "star", "x", "hexagon"];
const DASHES = [null, "7 3", "2 3", "9 3 2 3"];
const nice = (v) => (Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en") : short(v));

// A place for each name that covers no other one; null where there is none.
function placeNames(spots, width, height, taken) {
  return spots.map(({ x, y, text, r = 9 }) => {
    const w = text.length * 6.4 + 4;
    for (const [dx, dy] of [[r + 3, -7], [-r - 3 - w, -7], [-w / 2, -r - 17], [-w / 2, r + 3], [r, -r - 14], [r, r], [-r - w, -r - 14], [-r - w, r]]) {
      const b = { x: x + dx, y: y + dy, w, h: 14 };
      if (b.x > 46 && b.x + w < width && b.y > 2 && b.y + 14 < height - 34 && taken.every((t) => b.x + b.w < t.x || t.x + t.w < b.x || b.y + b.h < t.y || t.y + t.h < b.y)) { taken.push(b); return { x: b.x + 2, y: b.y + 11, text }; }
    }
    return null;
  });
}

// Heights of labels at the right edge, pushed apart.
function spread(ys, gap, low, high) {
  const order = ys.map((y, i) => [y, i]).sort((p, q) => p[0] - q[0]), found = [];
  let last = low - gap;
  for (const one of order) { one[0] = Math.max(one[0], last + gap); last = one[0]; }
  let next = high + gap;
  for (const one of order.toReversed()) { one[0] = Math.min(one[0], next - gap); next = one[0]; found[one[1]] = one[0]; }
  return found;
}

// A box that follows the pointer, and says the same to who can't see it.
function tip(place) {
  const box = h("div", { class: "hl-tip", hidden: true }), said = h("p", { class: "hl-hidden", role: "status", "aria-live": "polite" });
  place.append(box, said);
  return {
    show(x, y, title, rows, aloud) {
      clear(box, h("strong", {}, title), rows.map(([name, value, mark]) => h("div", { class: "hl-tip-row" }, mark ?? null, h("span", {}, name), h("span", {}, value))));
      box.hidden = false;
      const width = place.clientWidth, own = box.offsetWidth;
      box.style.left = `${Math.max(0, x + 14 + own < width ? x + 14 : x - own - 14)}px`;
      box.style.top = `${Math.max(0, y - 10)}px`;
      if (aloud) said.textContent = `${title}: ${rows.map(([name, value]) => `${name} ${value}`).join(", ")}`;
    },
    hide() { box.hidden = true; },
  };
}

// Lines over updates: {name, colour, shape, dash, points, band}. Names stand at the lines' ends where there is room, else in a list.
function lineChart(place, width, lines, { title, yTitle, height = 240, log = false }) {
  const full = lines.filter((l) => l.points.some((p) => Number.isFinite(p[1]) && (!log || p[1] > 0)));
  if (!full.length) return clear(place, h("h4", {}, title), h("p", { class: "hl-note" }, "No ticked run has this curve."));
  const value = log ? Math.log10 : (v) => v, longest = Math.max(...full.map((l) => l.name.length));
  const room = full.length <= 10 && full.length > 1 && width > 460 ? Math.min(190, 16 + 6.4 * Math.min(longest, 28)) : 0, inner = width - room;
  const all = full.flatMap((l) => [...l.points, ...(l.band ?? []).flatMap(([x, a, b]) => [[x, a], [x, b]])]).filter((p) => Number.isFinite(p[1]) && (!log || p[1] > 0));
  const xs = extent(all.map((p) => p[0])), ys = extent(all.map((p) => value(p[1])));
  if (ys[0] === ys[1]) { ys[0] -= 1; ys[1] += 1; }
  const { X, Y, group } = axes(inner, height, xs, ys, { xTitle: "update", yTitle: log ? `${yTitle}, log₁₀` : yTitle });
  const at = (p) => [X(p[0]), Y(value(p[1]))], drawable = (p) => Number.isFinite(p[1]) && (!log || p[1] > 0);
  const parts = (points) => points.reduce((found, p) => { if (drawable(p)) found.at(-1).push(at(p)); else found.push([]); return found; }, [[]]).filter((part) => part.length);  // a gap where a value is missing
  const ends = full.map((l) => at(l.points.filter(drawable).at(-1)));
  const labels = room ? spread(ends.map((e) => e[1]), 13, 12, height - 40) : [];
  const svg = s("svg", { width, height, role: "img", "aria-label": `${title}: ${full.map((l) => l.name).join(", ")}` }, group,
    full.map((l, i) => s("g", { "data-line": l.name },
      l.band ? s("path", { fill: ink(l.colour), opacity: 0.18, "data-band": l.name, d: "M" + [...l.band.map((b) => `${X(b[0]).toFixed(1)} ${Y(Math.min(ys[1], b[2])).toFixed(1)}`), ...l.band.toReversed().map((b) => `${X(b[0]).toFixed(1)} ${Y(Math.max(ys[0], b[1])).toFixed(1)}`)].join("L") + "Z" }) : null,
      parts(l.points).map((part) => polyline(part, { stroke: ink(l.colour), "stroke-width": 1.8, "stroke-dasharray": l.dash, "data-run": l.name })),
      marker(l.shape, ...ends[i], 4, ink(l.colour)),
      room ? [polyline([[ends[i][0] + 5, ends[i][1]], [inner + 2, labels[i]]], { stroke: ink(l.colour), "stroke-width": 0.8, opacity: 0.7 }), s("text", { x: inner + 5, y: labels[i] + 4, "data-name": l.name }, l.name.length > 28 ? l.name.slice(0, 27) + "…" : l.name)] : null)));
  const cross = s("line", { y1: 10, y2: height - 34, stroke: "currentColor", "stroke-width": 1, opacity: 0.5, visibility: "hidden" });
  svg.append(cross);
  const box = h("div", { class: "hl-chart-box", tabindex: 0, role: "group", "aria-label": `${title}; arrow keys read the values` }, svg);
  const list = room ? null : h("ul", { class: "hl-legend" }, full.slice(0, 12).map((l) => h("li", {}, stroke(l.colour, l.dash), glyph(l.shape, l.colour), l.name)), full.length > 12 ? h("li", {}, `and ${full.length - 12} more`) : null);
  clear(place, h("h4", {}, title), box, full.length > 1 ? list : null);
  const shown = tip(box), steps = [...new Set(full.flatMap((l) => l.points.map((p) => p[0])))].sort((p, q) => p - q);
  let here = -1;
  const look = (i, y, aloud) => {
    here = Math.max(0, Math.min(steps.length - 1, i));
    const x = steps[here], near = full.map((l) => [l, l.points.reduce((best, p) => (best && Math.abs(best[0] - x) <= Math.abs(p[0] - x) ? best : p), null)]);
    const rows = near.filter(([l, p]) => x >= l.points[0][0] && x <= l.points.at(-1)[0] && p).sort((p, q) => (q[1][1] ?? -Infinity) - (p[1][1] ?? -Infinity));
    for (const side of ["x1", "x2"]) cross.setAttribute(side, X(x));
    cross.setAttribute("visibility", "visible");
    shown.show(X(x), y, `update ${nice(x)}`, [...rows.slice(0, 10).map(([l, p]) => [l.name, (p[1] == null ? "not a number" : nice(p[1])) + (p[0] !== x ? ` (at ${nice(p[0])})` : ""), glyph(l.shape, l.colour)]), ...(rows.length > 10 ? [[`and ${rows.length - 10} more`, ""]] : [])], aloud);
  };
  const leave = () => { shown.hide(); cross.setAttribute("visibility", "hidden"); };
  box.addEventListener("pointermove", (event) => {
    const place = svg.getBoundingClientRect(), x = event.clientX - place.left;
    look(steps.reduce((best, step, i) => (Math.abs(X(step) - x) < Math.abs(X(steps[best]) - x) ? i : best), 0), event.clientY - place.top, false);
  });
  box.addEventListener("pointerleave", leave);
  box.addEventListener("blur", leave);
  box.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (way === undefined) return;
    event.preventDefault(); event.stopPropagation();
    look(here < 0 && Math.abs(way) === 1 ? 0 : here + way, 20, true);
  });
}

// Points of two measures: {name, x, y, colour, shape, size, half, facts, chosen}. `front` are the names that nothing beats, joined by steps.
function scatter(place, width, points, { title, xTitle, yTitle, logX = false, logY = false, height = 300, front = [], choose = null, better = "higher" }) {
  if (!points.length) return clear(place, h("h4", {}, title), h("p", { class: "hl-note" }, "Nothing to draw."));
  const fy = logY ? Math.log10 : (v) => v, pad = ([low, high], share, log) => (log ? [low / 1.5, high * 1.5] : low === high ? [low - 1, high + 1] : [low - share * (high - low), high + share * (high - low)]);
  const xs = pad(extent(points.map((p) => p.x)), 0.05, logX), ys = pad(extent(points.flatMap((p) => { const half = Math.min(p.half ?? 0, 25); return [fy(p.y - half), fy(p.y + half)]; })), 0.08, false);
  const { X, Y: Y0, group } = axes(width, height, xs, ys, { xTitle: xTitle + (logX ? " (log scale)" : ""), yTitle: yTitle + (logY ? ", log₁₀" : ""), log: logX }), Y = (v) => Y0(Math.max(ys[0], Math.min(ys[1], fy(v))));
  const size = (p) => p.size ?? 6, taken = points.map((p) => ({ x: X(p.x) - size(p), y: Y(p.y) - size(p), w: 2 * size(p), h: 2 * size(p) }));
  const labels = placeNames(points.map((p) => ({ x: X(p.x), y: Y(p.y), text: p.label ?? p.name, r: size(p) })), width, height, taken);
  const line = points.filter((p) => front.includes(p.name)).sort((p, q) => p.x - q.x || (better === "higher" ? q.y - p.y : p.y - q.y));
  const steps = line.flatMap((p, i) => (i ? [[X(p.x), Y(line[i - 1].y)], [X(p.x), Y(p.y)]] : [[X(p.x), Y(p.y)]]));
  const held = Math.max(0, points.findIndex((p) => p.chosen)), marks = points.map((p, number) => {
    const mark = marker(p.shape, X(p.x), Y(p.y), size(p), ink(p.colour), p.open ?? false);
    const said = `${p.name}: ${p.facts.map(([name, value]) => `${name} ${value}`).join(", ")}`;
    const node = s("g", { class: "hl-point", "data-point": p.name, "data-front": front.includes(p.name) || null, tabindex: number === held ? 0 : -1, role: choose ? "button" : "img", "aria-label": said, "aria-pressed": choose ? String(Boolean(p.chosen)) : null },
      p.half != null ? s("line", { x1: X(p.x), x2: X(p.x), y1: Y(p.y - p.half), y2: Y(p.y + p.half), stroke: ink(p.colour), "stroke-width": 2 }) : null,
      p.chosen ? s("circle", { cx: X(p.x), cy: Y(p.y), r: size(p) + 5, fill: "none", stroke: "currentColor", "stroke-width": 1.6 }) : null,
      fill(mark, { opacity: 0.85 }, []));
    const show = () => shown.show(X(p.x), Y(p.y), p.name, p.facts.map(([name, value]) => [name, value]), false);
    for (const event of ["pointerenter", "focus"]) node.addEventListener(event, show);
    for (const event of ["pointerleave", "blur"]) node.addEventListener(event, () => shown.hide());
    node.addEventListener("keydown", (event) => {  // one stop of the Tab key; arrows go from point to point
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key], order = [...marks].sort((a, b) => a.getBoundingClientRect().x - b.getBoundingClientRect().x);
      const next = way && order[order.indexOf(node) + way];
      if (way === undefined) return;
      event.preventDefault(); event.stopPropagation();
      if (next) { node.setAttribute("tabindex", -1); next.setAttribute("tabindex", 0); next.focus(); }
    });
    if (choose) {
      node.addEventListener("click", () => choose(p.name));
      node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(p.name); } });
    }
    return node;
  });
  const svg = s("svg", { width, height, role: "group", "aria-label": `${title}: ${points.length} points` }, group, polyline(steps, { stroke: "currentColor", "stroke-width": 1.2, "stroke-dasharray": "3 3", opacity: 0.7, "data-frontier": true }), marks,
    labels.map((l) => l && s("text", { x: l.x, y: l.y, "aria-hidden": "true", "pointer-events": "none" }, l.text)));
  const box = h("div", { class: "hl-chart-box" }, svg);
  const left = points.filter((_, i) => !labels[i]);
  clear(place, h("h4", {}, title), box, left.length ? h("ul", { class: "hl-legend" }, h("li", {}, "also drawn:"), left.map((p) => h("li", {}, glyph(p.shape, p.colour), p.label ?? p.name))) : null);
  const shown = tip(box);
}
