// Where the tasks live: a few points with names as SVG, many as canvas; a ring that can be dragged is the mixture.
const MANY = 250;

function floats(view) {
  if (!view) return new Float32Array(0);
  const at = view.byteOffset ?? 0, bytes = view.buffer ?? view;
  return new Float32Array(bytes.slice(at, at + (view.byteLength ?? bytes.byteLength)));
}

// Labels beside their points, each in the first free place of eight; a label without room is left to hovering.
function placeLabels(spots, width, height, taken) {
  const free = (box) => box.x > 1 && box.x + box.w < width - 1 && box.y > 1 && box.y + box.h < height - 1 &&
    taken.every((t) => box.x + box.w < t.x || t.x + t.w < box.x || box.y + box.h < t.y || t.y + t.h < box.y);
  return spots.map(({ x, y, text, keep }) => {
    const w = text.length * 6.4 + 4, hgt = 14, r = 10;
    const tries = [[r, -hgt / 2], [-r - w, -hgt / 2], [-w / 2, -r - hgt], [-w / 2, r], [r - 3, -r - 8], [r - 3, r - 6], [-r - w + 3, -r - 8], [-r - w + 3, r - 6]];
    for (const [dx, dy] of tries) {
      const box = { x: x + dx, y: y + dy, w, h: hgt };
      if (free(box)) { taken.push(box); return { x: box.x + 2, y: box.y + 11, text }; }
    }
    return keep ? { x: x + r, y: y - r, text } : null;
  });
}

function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "map", "Where the tasks live", "");
  const tools = h("div", { class: "hl-row hl-live" }), plane = h("div", { class: "hl-plane" }), legend = h("ul", { class: "hl-legend" }), warn = h("p", { class: "hl-warn" }), told = h("div", { class: "hl-told" });
  const tip = h("div", { class: "hl-tip", hidden: true }), steps = h("div", { class: "hl-row" });
  let dragging = false, lit = null, repaint = () => {}, step = (model.get("steps").length || 1) - 1, view = { k: 1, x: 0, y: 0 }, timer = null, hidden = new Set(), selected = null;
  const facts = () => model.get("points"), count = () => facts().count;
  const coordinates = () => {
    const all = model.get("steps").length > 1 ? floats(model.get("paths")) : null;
    return all?.length ? all.subarray(step * count() * 2, (step + 1) * count() * 2) : floats(model.get("coordinates"));
  };
  const codes = () => { const c = model.get("codes"); return new Uint16Array((c.buffer ?? c).slice(c.byteOffset ?? 0, (c.byteOffset ?? 0) + (c.byteLength ?? 0))); };

  // Controls are made once and then follow what is shown: a new one would be taken out of the hand, or lose the focus
  let layout = "", followers = [];
  const follow = (node, put) => { followers.push(put); return node; };
  function drawTools() {
    const options = model.get("options"), now = model.get("shown"), needed = JSON.stringify([options, now.what]);
    if (!options.what || !now.what) return;
    if (needed === layout) { if (!kernel.busy()) for (const put of followers) put(now); return; }
    layout = needed; followers = [];
    const set = (change) => { view = { k: 1, x: 0, y: 0 }; hidden = new Set(); kernel.ask({ shown: { ...model.get("shown"), ...change } }); };
    const range = (label, values, key) => {
      if (values.length < 2) return null;
      const names = ["all", ...values], c = slider(label, Math.max(0, names.indexOf(String(now[key] ?? "all"))), { max: names.length - 1, step: 1, shown: (i) => `${label}: ${names[i]}` }, (i) => set({ [key]: i ? names[i] : null }));
      return follow(h("label", { style: "display:inline-grid;width:150px;font-size:12px" }, c.out, c.input), (shown) => c.set(Math.max(0, names.indexOf(String(shown[key] ?? "all")))));
    };
    const select = (label, values, key, change) => { const box = choice(label, values, now[key] ?? "", change); return follow(box, (shown) => { box.value = shown[key] ?? ""; }); };
    const how = segments("projection", [["pca", "PCA"], ["tsne", "t-SNE"], ["umap", "UMAP"]], now.how, (value) => set({ how: value }));
    const inside = now.what === "I" || now.what === "weights";
    clear(tools, follow(how, (shown) => { for (const radio of how.querySelectorAll("input")) radio.checked = radio.value === shown.how; }),
      select("representation", options.what, "what", (what) => set({ what })),
      select("colour by", options.colour.map((c) => [c, `colour: ${c}`]), "colour", (colour) => set({ colour })),
      options.figures.length ? select("figure of a paper", [["", "figures of the papers"], ...options.figures], "figure", (figure) => set({ figure })) : null,
      now.what === "instances" && options.of?.length ? select("data sets", [["", "all data sets"], ...options.of], "of", (of) => set({ of, figure: "" })) : null,
      inside && options.stacks.length > 1 ? select("stack", [["", "both stacks"], ...options.stacks], "stack", (stack) => set({ stack: stack || null })) : null,
      inside ? range("layer", options.layers, "layer") : null, inside ? range("position", options.places, "place") : null);
  }

  function drawSteps() {
    const all = model.get("steps");
    if (all.length < 2) return clear(steps);
    step = Math.min(step, all.length - 1);
    const c = slider("training step", step, { max: all.length - 1, step: 1, shown: (i) => `step ${all[i].toLocaleString("en")}` }, (i) => { step = i; draw(); });
    c.input.style.width = "auto"; c.input.style.flex = "1 1 120px";
    const play = h("button", { "aria-label": "play training", onclick: () => {
      if (timer) { clearInterval(timer); timer = null; play.textContent = "▶"; return; }
      play.textContent = "❚❚"; step = 0;
      timer = setInterval(() => { c.set(step); draw(); if (++step >= all.length) { step = all.length - 1; clearInterval(timer); timer = null; play.textContent = "▶"; } }, 350);
    } }, "▶");
    clear(steps, play, c.input, c.out);
  }

  const showTip = (x, y, text) => { tip.hidden = !text; tip.textContent = text ?? ""; tip.style.left = `${Math.min(x + 12, plane.clientWidth - 180)}px`; tip.style.top = `${y + 12}px`; };
  const whole = () => count() > 0 && codes().length === count() && floats(model.get("coordinates")).length === 2 * count() && model.get("legend").length > Math.max(...new Set(codes()));
  const draw = fitted(plane, (width) => {
    if (!whole()) return;  // traits arrive one by one, the coordinates last
    const height = Math.round(Math.min(600, Math.max(280, width * 0.86))), xy = coordinates(), n = count(), margin = 44;
    const paths = model.get("steps").length > 1 ? floats(model.get("paths")) : xy;
    const xs = [], ys = [], source = paths.length && n <= MANY ? paths : xy;
    for (let i = 0; i < source.length; i += 2) { xs.push(source[i]); ys.push(source[i + 1]); }
    const [x0, x1] = extent(xs), [y0, y1] = extent(ys), size = Math.min((width - 2 * margin) / (x1 - x0 || 1), (height - 2 * margin) / (y1 - y0 || 1));
    const X = (x) => ((x - (x0 + x1) / 2) * size) * view.k + view.x + width / 2, Y = (y) => height / 2 - (y - (y0 + y1) / 2) * size * view.k + view.y;
    const back = (px, py) => [((px - width / 2 - view.x) / view.k) / size + (x0 + x1) / 2, ((height / 2 - py + view.y) / view.k) / size + (y0 + y1) / 2];
    (n <= MANY ? few : many)({ width, height, xy, X, Y, back, size: size * view.k });
  });

  function few({ width, height, xy, X, Y, back, size }) {
    const { names, rings, details } = facts(), entries = model.get("legend"), code = codes(), spread = floats(model.get("spread")), here = model.get("here"), all = model.get("steps"), paths = floats(model.get("paths")), n = names.length;
    const svg = s("svg", { width, height, role: "group", "aria-label": model.get("title") }), spots = [], taken = [], visible = [];
    const axis = model.get("axes");
    for (let i = 0; i < n; i++) if (!hidden.has(code[i])) visible.push(i);
    for (const i of visible) taken.push({ x: X(xy[2 * i]) - 7, y: Y(xy[2 * i + 1]) - 7, w: 14, h: 14 });
    if (here.length) { const x = X(here[0]), y = Y(here[1]); taken.push({ x: x - 11, y: y - 11, w: 22, h: 22 }); spots.push({ x, y, text: "you are here", keep: true }); }
    for (const i of visible) spots.push({ x: X(xy[2 * i]), y: Y(xy[2 * i + 1]), text: names[i] });
    if (all.length > 1) for (const i of visible) {
      const track = all.slice(0, step + 1).map((_, t) => [X(paths[2 * (t * n + i)]), Y(paths[2 * (t * n + i) + 1])]);
      svg.append(polyline(track, { stroke: ink(entries[code[i]].colour), "stroke-width": 1.3, opacity: 0.55 }));
    }
    if (spread.length && all.length < 2) for (const i of visible) svg.append(s("ellipse", { cx: X(xy[2 * i]), cy: Y(xy[2 * i + 1]), rx: 2 * spread[2 * i] * size, ry: 2 * spread[2 * i + 1] * size, fill: ink(entries[code[i]].colour), opacity: 0.12 }));
    for (const i of visible) {
      const x = X(xy[2 * i]), y = Y(xy[2 * i + 1]), colour = ink(entries[code[i]].colour);
      const jump = () => { if (facts().tasks) kernel.ask({ mixture: { [names[i]]: 1 } }); selected = i; told.textContent = details[i]; };
      const group = s("g", { class: "hl-point", tabindex: 0, "data-group": code[i], role: "button", "aria-label": `${names[i]}, ${entries[code[i]].name}${rings[i] ? ", added later" : ""}`, onclick: jump,
        onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); jump(); } },
        onpointerenter: () => showTip(x, y, details[i]), onpointerleave: () => showTip(0, 0, null), onfocus: () => showTip(x, y, details[i]), onblur: () => showTip(0, 0, null) },
        s("circle", { cx: x, cy: y, r: 13, fill: "transparent" }), marker(entries[code[i]].shape, x, y, 6.2, colour, rings[i]));
      svg.append(group);
    }
    placeLabels(spots, width, height - 20, taken).forEach((label, i) => { if (label) svg.append(s("text", { x: label.x, y: label.y, "font-weight": here.length && !i ? 600 : 400, "pointer-events": "none" }, label.text)); });
    if (here.length) svg.append(ring({ x: X(here[0]), y: Y(here[1]), xy, X, Y, back, names, svg }));
    svg.append(s("text", { x: 10, y: height - 8, class: "hl-title" }, axis[0] ?? ""), s("text", { x: width - 10, y: height - (width < 440 ? 22 : 8), class: "hl-title", "text-anchor": "end" }, axis[1] ?? ""));
    const focus = plane.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    clear(plane, svg, tip);
    if (focus) [...plane.querySelectorAll("[tabindex]")].find((g) => g.getAttribute("aria-label") === focus)?.focus();
  }

  // A place in the plane becomes a mixture of the three nearest tasks, nearer ones more
  function mixtureAt(x, y, xy, names) {
    const near = names.map((name, i) => [name, (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2]).sort((a, b) => a[1] - b[1]).slice(0, 3);
    const scale = near.at(-1)[1] || 1, parts = near.map(([name, d]) => [name, 1 / (d / scale + 1e-3)]), total = parts.reduce((t, [, w]) => t + w, 0);
    return Object.fromEntries(parts.map(([name, w]) => [name, w / total]));
  }
  function ring({ x, y, xy, back, names, svg }) {
    const node = s("g", { class: "hl-point", tabindex: 0, role: "slider", "aria-label": "you are here: the mixture", "aria-valuetext": Object.entries(model.get("mixture")).map(([n, w]) => `${two(w)} ${n}`).join(", "), style: "cursor:grab", transform: `translate(${x} ${y})` },
      s("circle", { r: 10, fill: "none", stroke: "var(--hl-mark)", "stroke-width": 2 }), s("circle", { r: 3, fill: "var(--hl-mark)" }));
    const go = (px, py) => { const [vx, vy] = back(px, py); kernel.ask({ mixture: mixtureAt(vx, vy, xy, names) }); };
    node.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      dragging = true;  // a new drawing would take the ring out of the hand that holds it
      const move = (e) => { const box = svg.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top; node.setAttribute("transform", `translate(${px} ${py})`); go(px, py); };
      node.addEventListener("pointermove", move);
      for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => { dragging = false; node.removeEventListener("pointermove", move); if (!kernel.busy()) draw(); }, { once: true });
    });
    node.addEventListener("keydown", (event) => {
      const way = { ArrowRight: [14, 0], ArrowLeft: [-14, 0], ArrowUp: [0, -14], ArrowDown: [0, 14] }[event.key];
      if (!way) return;
      event.preventDefault(); event.stopPropagation();
      x += way[0]; y += way[1];
      node.setAttribute("transform", `translate(${x} ${y})`);
      go(x, y);
    });
    return node;
  }

  // Many points are painted into a picture of their own; moving and zooming paint again, at most once a frame.
  function many({ width, height, xy, X, Y }) {
    const n = count(), code = codes(), ratio = Math.min(2, window.devicePixelRatio || 1), wide = Math.round(width * ratio), high = Math.round(height * ratio);
    const canvas = h("canvas", { width: wide, height: high, style: `width:${width}px;height:${height}px;cursor:grab`, tabindex: 0, role: "img", "aria-label": `${model.get("title")}; ${n} points. Arrow keys move, plus and minus zoom, 0 shows all` });
    const context = canvas.getContext("2d"), frame = s("svg", { width, height, style: "position:absolute;inset:0;pointer-events:none" }), shown = { ask: false };
    const paint = () => {
      const began = performance.now(), entries = model.get("legend"), own = (getComputedStyle(root).color.match(/\d+/g) ?? [0, 0, 0]).map(Number);  // a page may draw before it shows the panel
      const colours = entries.map((e) => (e.colour === "#000000" ? own : [1, 3, 5].map((at) => parseInt(e.colour.slice(at, at + 2), 16))));
      context.clearRect(0, 0, wide, high);
      if (n > 5000) cloud(colours); else shapes(entries, colours);
      root.dataset.drawMs = (performance.now() - began).toFixed(1);
      root.dataset.drawn = String(1 + Number(root.dataset.drawn ?? 0));
    };
    // in an order that is neither that of the tasks nor random: no group lies on top of the others
    const stride = [7919, 6007, 5003, 1].find((p) => p === 1 || n % p);
    const faint = (c) => lit != null && lit !== c;
    function cloud(colours) {
      const image = context.createImageData(wide, high), data = image.data, dot = Math.max(1, Math.round((n > 20000 ? 1.5 : 2) * ratio)), mix = 0.6;
      const ax = (X(1) - X(0)) * ratio, bx = X(0) * ratio - dot / 2, ay = (Y(1) - Y(0)) * ratio, by = Y(0) * ratio - dot / 2;
      for (let at = 0, i = 0; at < n; at++, i = (i + stride) % n) {
        const c = code[i];
        if (hidden.has(c)) continue;
        const left = Math.round(ax * xy[2 * i] + bx), top = Math.round(ay * xy[2 * i + 1] + by), [r, g, b] = colours[c], alpha = faint(c) ? 0.04 : mix;
        if (left < 0 || top < 0 || left + dot >= wide || top + dot >= high) continue;
        for (let y = top; y < top + dot; y++) for (let o = 4 * (y * wide + left), end = o + 4 * dot; o < end; o += 4) {
          const before = data[o + 3] / 255, after = alpha + before * (1 - alpha), share = alpha / after;
          data[o] += (r - data[o]) * share; data[o + 1] += (g - data[o + 1]) * share; data[o + 2] += (b - data[o + 2]) * share; data[o + 3] = 255 * after;
        }
      }
      context.putImageData(image, 0, 0);
    }
    function shapes(entries, colours) {
      const forms = entries.map((e) => new Path2D(outline(e.shape, 0, 0, n > 1500 ? 2.6 : 3.4)));
      for (let at = 0, i = 0; at < n; at++, i = (i + stride) % n) {
        const c = code[i];
        if (hidden.has(c)) continue;
        context.setTransform(ratio, 0, 0, ratio, X(xy[2 * i]) * ratio, Y(xy[2 * i + 1]) * ratio);
        context.globalAlpha = faint(c) ? 0.06 : 0.75;
        context.fillStyle = `rgb(${colours[c]})`;
        context.fill(forms[c]);
      }
      context.setTransform(1, 0, 0, 1, 0, 0);
    }
    const soon = () => { if (!shown.ask) { shown.ask = true; requestAnimationFrame(() => { shown.ask = false; paint(); }); } };
    const nearest = (px, py) => { let best = -1, least = 144; for (let i = 0; i < n; i++) { if (hidden.has(code[i])) continue; const d = (X(xy[2 * i]) - px) ** 2 + (Y(xy[2 * i + 1]) - py) ** 2; if (d < least) { least = d; best = i; } } return best; };
    const place = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
    const zoom = (k, px, py) => { view = { k: view.k * k, x: (view.x - (px - width / 2)) * k + (px - width / 2), y: (view.y - (py - height / 2)) * k + (py - height / 2) }; soon(); };
    let from = null;
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), ...place(e)); }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => { from = [...place(e), view.x, view.y, e.shiftKey]; canvas.setPointerCapture(e.pointerId); showTip(0, 0, null); });
    canvas.addEventListener("pointermove", (e) => {
      const [px, py] = place(e);
      if (!from) { const i = nearest(px, py); showTip(px, py, i < 0 ? null : model.get("legend")[code[i]].name); return; }
      if (from[4]) clear(frame, s("rect", { x: Math.min(px, from[0]), y: Math.min(py, from[1]), width: Math.abs(px - from[0]), height: Math.abs(py - from[1]), fill: "currentColor", opacity: 0.15 }));
      else { view = { ...view, x: from[2] + px - from[0], y: from[3] + py - from[1] }; soon(); }
    });
    canvas.addEventListener("pointerleave", () => showTip(0, 0, null));
    canvas.addEventListener("pointerup", (e) => {
      if (!from) return;
      const [px, py] = place(e), moved = Math.hypot(px - from[0], py - from[1]) > 4;
      if (!moved) { const i = nearest(px, py); if (i >= 0) kernel.ask({ selected: [i] }); }
      else if (from[4]) {
        const inside = []; for (let i = 0; i < n && inside.length < 500; i++) { const x = X(xy[2 * i]), y = Y(xy[2 * i + 1]); if (!hidden.has(code[i]) && (x - px) * (x - from[0]) < 0 && (y - py) * (y - from[1]) < 0) inside.push(i); }
        kernel.ask({ selected: inside });
      }
      from = null; clear(frame);
    });
    canvas.addEventListener("keydown", (e) => {
      const way = { ArrowRight: [-40, 0], ArrowLeft: [40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[e.key], k = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 }[e.key];
      if (!way && !k && e.key !== "0") return;
      e.preventDefault(); e.stopPropagation();
      if (k) zoom(k, width / 2, height / 2);
      else { view = e.key === "0" ? { k: 1, x: 0, y: 0 } : { ...view, x: view.x + way[0], y: view.y + way[1] }; soon(); }
    });
    repaint = soon;
    paint();
    const axis = model.get("axes"), axisNames = s("svg", { width, height, style: "position:absolute;inset:0;pointer-events:none" }, s("text", { x: 10, y: height - 8, class: "hl-title" }, axis[0] ?? ""), s("text", { x: width - 10, y: height - (width < 440 ? 22 : 8), class: "hl-title", "text-anchor": "end" }, axis[1] ?? ""));
    clear(plane, canvas, axisNames, frame, tip);
  }

  function light(group) {
    lit = group;
    if (count() > MANY) repaint();
    else for (const g of plane.querySelectorAll("[data-group]")) g.style.opacity = group == null || Number(g.dataset.group) === group ? 1 : 0.2;
  }
  function drawWords() {
    sub.textContent = model.get("title");
    root.querySelector("h3").textContent = facts().tasks === false ? "Where the inputs live" : "Where the tasks live";
    warn.textContent = model.get("warning"); warn.hidden = !model.get("warning");
    const rings = facts().rings?.some(Boolean);
    clear(legend, model.get("legend").map((entry, i) => h("li", {}, h("button", { "aria-pressed": String(!hidden.has(i)), style: `border:0;padding:0 2px;min-height:0;background:none;opacity:${hidden.has(i) ? 0.4 : 1}`,
      title: "click to hide or show; stay on it to see it alone", onpointerenter: () => light(i), onpointerleave: () => light(null), onfocus: () => light(i), onblur: () => light(null),
      onclick: (e) => { if (hidden.has(i)) hidden.delete(i); else hidden.add(i); const at = [...legend.querySelectorAll("button")].indexOf(e.currentTarget); drawWords(); draw(); legend.querySelectorAll("button")[at]?.focus(); } }, glyph(entry.shape, entry.colour), ` ${entry.name}`))),
      rings ? h("li", {}, glyph("circle", "var(--hl-soft)", true), "hollow: added later") : null);
  }
  function drawTold() {
    const rows = model.get("told");
    if (rows.length) clear(told, h("div", { class: "hl-scroll", style: "max-height:180px" }, h("table", {}, h("tbody", {}, rows.map((r) => h("tr", {}, r.map((cell, i) => h("td", { style: i === 2 ? "white-space:normal" : "" }, cell))))))));
  }

  function all() {
    if (!count()) { clear(body, h("p", {}, model.get("warning"))); sub.textContent = model.get("title"); return; }
    if (plane.parentElement !== body) clear(body, tools, plane, steps, legend, warn, told);
    drawTools(); drawSteps(); drawWords(); draw();
  }
  // Listen first, then draw: what arrives in between would be missed
  model.on("change:coordinates", all);
  for (const name of ["title", "warning"]) model.on(`change:${name}`, () => { if (!count()) all(); });
  model.on("change:shown", drawTools);
  model.on("change:here", () => { if (!dragging) draw(); kernel.timed("here"); });
  model.on("change:answered", () => { drawTools(); if (!dragging && !kernel.busy() && count() <= MANY) draw(); });
  model.on("change:told", drawTold);
  all();
}
export default { render };
