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
  let step = (model.get("steps").length || 1) - 1, view = { k: 1, x: 0, y: 0 }, timer = null, hidden = new Set(), selected = null;
  const facts = () => model.get("points"), count = () => facts().count;
  const coordinates = () => {
    const all = model.get("steps").length > 1 ? floats(model.get("paths")) : null;
    return all?.length ? all.subarray(step * count() * 2, (step + 1) * count() * 2) : floats(model.get("coordinates"));
  };
  const codes = () => { const c = model.get("codes"); return new Uint16Array((c.buffer ?? c).slice(c.byteOffset ?? 0, (c.byteOffset ?? 0) + (c.byteLength ?? 0))); };

  function drawTools() {
    const options = model.get("options"), now = model.get("shown");
    const set = (change) => { view = { k: 1, x: 0, y: 0 }; hidden = new Set(); kernel.ask({ shown: { ...model.get("shown"), ...change } }); };
    const range = (label, values, key) => {
      if (values.length < 2) return null;
      const names = ["all", ...values], c = slider(label, Math.max(0, names.indexOf(String(now[key] ?? "all"))), { max: names.length - 1, step: 1, shown: (i) => `${label}: ${names[i]}` }, (i) => set({ [key]: i ? names[i] : null }));
      return h("label", { style: "display:inline-grid;width:150px;font-size:12px" }, c.out, c.input);
    };
    const inside = now.what === "I" || now.what === "weights";
    clear(tools, segments("projection", [["pca", "PCA"], ["tsne", "t-SNE"], ["umap", "UMAP"]], now.how, (how) => set({ how })),
      choice("representation", options.what, now.what, (what) => set({ what })),
      choice("colour by", options.colour.map((c) => [c, `colour: ${c}`]), now.colour, (colour) => set({ colour })),
      options.figures.length ? choice("figure of a paper", [["", "figures of the papers"], ...options.figures], now.figure ?? "", (figure) => set({ figure })) : null,
      inside && options.stacks.length > 1 ? choice("stack", [["", "both stacks"], ...options.stacks], now.stack ?? "", (stack) => set({ stack: stack || null })) : null,
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
  const draw = fitted(plane, (width) => {
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
      const group = s("g", { class: "hl-point", tabindex: 0, role: "button", "aria-label": `${names[i]}, ${entries[code[i]].name}${rings[i] ? ", added later" : ""}`, onclick: jump,
        onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); jump(); } },
        onpointerenter: () => showTip(x, y, details[i]), onpointerleave: () => showTip(0, 0, null), onfocus: () => showTip(x, y, details[i]), onblur: () => showTip(0, 0, null) },
        s("circle", { cx: x, cy: y, r: 13, fill: "transparent" }), s("circle", { cx: x, cy: y, r: rings[i] ? 5.5 : 6.5, fill: rings[i] ? "var(--hl-card)" : colour, stroke: colour, "stroke-width": rings[i] ? 2.5 : 1 }));
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
      node.setPointerCapture(event.pointerId);
      const move = (e) => { const box = svg.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top; node.setAttribute("transform", `translate(${px} ${py})`); go(px, py); };
      node.addEventListener("pointermove", move);
      node.addEventListener("pointerup", () => node.removeEventListener("pointermove", move), { once: true });
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

  function many({ width, height, xy, X, Y }) {
    const n = count(), code = codes(), entries = model.get("legend"), ratio = window.devicePixelRatio || 1;
    const canvas = h("canvas", { width: width * ratio, height: height * ratio, style: `width:${width}px;height:${height}px`, tabindex: 0, role: "img", "aria-label": `${model.get("title")}; ${n} points` });
    const context = canvas.getContext("2d"), began = performance.now(), dot = n > 20000 ? 1.6 : n > 3000 ? 2.4 : 3.6;
    context.scale(ratio, ratio);
    context.globalAlpha = n > 20000 ? 0.5 : 0.75;
    const own = getComputedStyle(root).color;
    for (let c = 0; c < entries.length; c++) {
      if (hidden.has(c)) continue;
      context.fillStyle = entries[c].colour === "#000000" ? own : entries[c].colour;
      for (let i = 0; i < n; i++) if (code[i] === c) context.fillRect(X(xy[2 * i]) - dot / 2, Y(xy[2 * i + 1]) - dot / 2, dot, dot);
    }
    root.dataset.drawMs = (performance.now() - began).toFixed(1);
    const nearest = (px, py) => { let best = -1, least = 144; for (let i = 0; i < n; i++) { if (hidden.has(code[i])) continue; const d = (X(xy[2 * i]) - px) ** 2 + (Y(xy[2 * i + 1]) - py) ** 2; if (d < least) { least = d; best = i; } } return best; };
    const place = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
    let from = null, frame = s("svg", { width, height, style: "position:absolute;inset:0;pointer-events:none" });
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); const [px, py] = place(e), k = Math.exp(-e.deltaY / 400); view = { k: view.k * k, x: (view.x - (px - width / 2)) * k + (px - width / 2), y: (view.y - (py - height / 2)) * k + (py - height / 2) }; requestAnimationFrame(draw); }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => { from = [...place(e), view.x, view.y, e.shiftKey]; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      const [px, py] = place(e);
      if (!from) { const i = nearest(px, py); showTip(px, py, i < 0 ? null : entries[code[i]].name); return; }
      if (from[4]) clear(frame, s("rect", { x: Math.min(px, from[0]), y: Math.min(py, from[1]), width: Math.abs(px - from[0]), height: Math.abs(py - from[1]), fill: "currentColor", opacity: 0.15 }));
    });
    canvas.addEventListener("pointerup", (e) => {
      const [px, py] = place(e), moved = Math.hypot(px - from[0], py - from[1]) > 4;
      if (!moved) { const i = nearest(px, py); if (i >= 0) kernel.ask({ selected: [i] }); }
      else if (from[4]) {
        const inside = []; for (let i = 0; i < n && inside.length < 500; i++) { const x = X(xy[2 * i]), y = Y(xy[2 * i + 1]); if (!hidden.has(code[i]) && (x - px) * (x - from[0]) < 0 && (y - py) * (y - from[1]) < 0) inside.push(i); }
        kernel.ask({ selected: inside });
      } else { view = { ...view, x: from[2] + px - from[0], y: from[3] + py - from[1] }; draw(); }
      from = null; clear(frame);
    });
    canvas.addEventListener("keydown", (e) => {
      const way = { ArrowRight: [-40, 0], ArrowLeft: [40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[e.key], k = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 }[e.key];
      if (!way && !k && e.key !== "0") return;
      e.preventDefault(); e.stopPropagation();
      view = e.key === "0" ? { k: 1, x: 0, y: 0 } : k ? { k: view.k * k, x: view.x * k, y: view.y * k } : { ...view, x: view.x + way[0], y: view.y + way[1] };
      draw();
      plane.querySelector("canvas")?.focus();
    });
    clear(plane, canvas, frame, tip);
  }

  function drawWords() {
    sub.textContent = model.get("title");
    warn.textContent = model.get("warning"); warn.hidden = !model.get("warning");
    const rings = facts().rings?.some(Boolean);
    clear(legend, model.get("legend").map((entry, i) => h("li", {}, h("button", { "aria-pressed": String(!hidden.has(i)), style: `border:0;padding:0 2px;min-height:0;background:none;opacity:${hidden.has(i) ? 0.4 : 1}`,
      onclick: () => { if (hidden.has(i)) hidden.delete(i); else hidden.add(i); drawWords(); draw(); } }, fill(h("span", { class: "hl-dot" }), { style: `--dot:${ink(entry.colour)};margin-right:6px` }, []), entry.name))),
      rings ? h("li", {}, fill(h("span", { class: "hl-dot hl-ring" }), { style: "--dot:var(--hl-soft)" }, []), "added later") : null);
  }
  function drawTold() {
    const rows = model.get("told");
    if (rows.length) clear(told, h("div", { class: "hl-scroll", style: "max-height:180px" }, h("table", {}, h("tbody", {}, rows.map((r) => h("tr", {}, r.map((cell, i) => h("td", { style: i === 2 ? "white-space:normal" : "" }, cell))))))));
  }

  if (!facts().count) { clear(body, h("p", {}, model.get("warning"))); sub.textContent = model.get("title"); return; }
  clear(body, tools, plane, steps, legend, warn, told);
  const all = () => { drawTools(); drawSteps(); drawWords(); draw(); };
  model.on("change:coordinates", all);
  model.on("change:shown", drawTools);
  model.on("change:here", () => { draw(); kernel.timed("here"); });
  model.on("change:told", drawTold);
  all();
}
export default { render };
