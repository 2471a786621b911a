// Where the tasks live: a few points with names as SVG, many as canvas; a ring that can be dragged is the mixture.
const MANY = 250, CLOUD = 5000, NAMED = 30, LEVEL = { yaw: -0.5, pitch: 0.35 };

function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "map", "Where the tasks live", "");
  const tools = h("div", { class: "hl-row hl-live" }), rare = h("div", { class: "hl-row hl-live hl-rare", hidden: true }), plane = h("div", { class: "hl-plane" }), legend = h("ul", { class: "hl-legend" }), warn = h("p", { class: "hl-warn" });
  const told = h("div", { class: "hl-told" }), tip = h("div", { class: "hl-tip", hidden: true }), steps = h("div", { class: "hl-row", style: "margin:8px 0 0" }), frame = s("svg", { class: "hl-over" }), corner = h("div", { class: "hl-corner" });
  const fresh = () => ({ k: 1, x: 0, y: 0 });
  let dragging = false, held = false, lit = null, step = Infinity, view = fresh(), turn = { ...LEVEL }, timer = null, hidden = new Set(), selected = null, near = [], list = {}, found = null, lasso = false, dense = false, query = "";
  let size = { width: 0, height: 0 }, cam = null, places = null, frameAsked = false;
  const facts = () => model.get("points"), count = () => facts().count, dims = () => facts().dims ?? 2, entries = () => model.get("legend"), named = () => Boolean(facts().names?.length);
  let brief = (name) => name, briefFor = null;
  let codeView = null, codeArray = new Uint16Array(0), coordView = null, coordArray = new Float32Array(0), pathView = null, pathArray = new Float32Array(0);
  const codes = () => { const v = model.get("codes"); if (v !== codeView) { codeView = v; codeArray = whole(v, Uint16Array); } return codeArray; };
  const last = () => { const v = model.get("coordinates"); if (v !== coordView) { coordView = v; coordArray = floats(v); } return coordArray; };
  const paths = () => { const v = model.get("paths"); if (v !== pathView) { pathView = v; pathArray = floats(v); } return pathArray; };
  // stops of the time slider: the steps a run kept, and the model itself if it is not the last of them
  const moment = (t) => paths().subarray(t * count() * dims(), (t + 1) * count() * dims());
  function stops() {
    const all = model.get("steps");
    if (all.length < 2) return [];
    const end = moment(all.length - 1), now = last(), [low, high] = extent(now), apart = now.some((v, i) => Number.isFinite(end[i]) && Math.abs(v - end[i]) > 0.01 * (high - low));
    return apart ? [...all.map((t) => `step ${t.toLocaleString("en")}`), "the model"] : all.map((t) => `step ${t.toLocaleString("en")}`);
  }
  const atEnd = () => { const n = stops().length; return !n || step >= n - 1; };
  const now = () => (atEnd() ? last() : moment(step));
  const complete = () => count() > 0 && codes().length === count() && last().length === dims() * count() && entries().length > codes().reduce((a, b) => Math.max(a, b), 0);

  // Controls are made once and then follow what is shown: a new one would be taken out of the hand, or lose the focus
  let layout = "", followers = [];
  const follow = (node, put) => { followers.push(put); return node; };
  const find = h("input", { type: "search", placeholder: "find a name, answer or word", "aria-label": "find points", oninput: () => { query = find.value; search(); } });
  find.addEventListener("keydown", (event) => { event.stopPropagation(); if (event.key === "Enter" && list.kind === "found" && list.rows?.length) select(list.rows[0][0]); });
  const more = h("button", { "aria-expanded": "false", onclick: () => { rare.hidden = !rare.hidden; more.setAttribute("aria-expanded", String(!rare.hidden)); } }, "More");
  const set = (change) => { view = fresh(); hidden = new Set(); forget(); kernel.ask({ shown: { ...model.get("shown"), ...change } }); };
  function drawTools() {
    const options = model.get("options"), shown = model.get("shown"), needed = JSON.stringify([options, shown.what, count() < 15]);
    if (!options.what || !shown.what) return;
    if (needed === layout) { if (!kernel.busy()) for (const put of followers) put(shown); return; }
    layout = needed; followers = [];
    const select_ = (label, values, key, change) => { const box = choice(label, values, shown[key] ?? "", change); return follow(box, (now) => { box.value = now[key] ?? ""; }); };
    const how = segments("projection", options.how.map(([value, name]) => [value, name]), shown.how, (value) => set({ how: value, figure: "" }));
    const follows = (now) => { for (const radio of how.querySelectorAll("input")) {
      const least = options.how.find(([value]) => value === radio.value)[2], n = facts().fitted ?? count();
      radio.checked = radio.value === now.how; radio.disabled = n > 0 && n < least;
      radio.parentElement.title = radio.disabled ? `needs at least ${least} points` : "";
    } };
    follows(shown);
    const within = shown.what === "I" || shown.what === "weights";
    const layer = () => {
      if (options.layers.length < 2) return null;
      const names = ["all", ...options.layers], c = slider("layer", Math.max(0, names.indexOf(String(shown.layer ?? "all"))), { max: names.length - 1, step: 1, shown: (i) => `layer: ${names[i]}` }, (i) => set({ layer: i ? names[i] : null }));
      return follow(h("label", { class: "hl-range" }, c.out, c.input), (now) => c.set(Math.max(0, names.indexOf(String(now.layer ?? "all")))));
    };
    clear(tools, select_("representation", options.what, "what", (what) => set({ what })), follow(how, follows), within ? layer() : null, h("span", { class: "hl-grow" }, find), more);
    clear(rare, select_("colour by", options.colour.map((c) => [c, `colour: ${c}`]), "colour", (colour) => set({ colour })),
      options.figures.length ? select_("figure of a paper", [["", "figures of the papers"], ...options.figures], "figure", (figure) => set({ figure })) : null,
      shown.what === "instances" && options.of?.length ? select_("data sets", [["", "all data sets"], ...options.of], "of", (of) => set({ of, figure: "" })) : null,
      within && options.stacks.length > 1 ? select_("stack", [["", "both stacks"], ...options.stacks], "stack", (stack) => set({ stack: stack || null })) : null,
      within && options.places.length > 1 ? select_("position", [["", "all positions"], ...options.places], "place", (place) => set({ place: place || null })) : null);
  }

  // Buttons in the corner of the map: made once
  const press = (label, words, act, more) => h("button", { "aria-label": label, title: label, onclick: act, ...more }, words);
  const catching = press("lasso: draw a line around points, or hold Shift", "Lasso", () => { lasso = !lasso; drawCorner(); }, { "aria-pressed": "false" }), solid = press("three dimensions", "3-D", () => kernel.ask({ shown: { ...model.get("shown"), dims: dims() === 3 ? 2 : 3 } }), { "aria-pressed": "false", class: "hl-live" });
  const clouds = press("density instead of points", "Density", () => { dense = !dense; drawCorner(); soon(); }, { "aria-pressed": "false" });
  corner.append(catching, clouds, solid, press("zoom in", "+", () => zoom(1.4)), press("zoom out", "−", () => zoom(1 / 1.4)), press("show all", "Fit", () => { view = fresh(); turn = { ...LEVEL }; draw(); }));
  function drawCorner() {
    catching.setAttribute("aria-pressed", String(lasso)); solid.setAttribute("aria-pressed", String(dims() === 3)); clouds.setAttribute("aria-pressed", String(dense));
    clouds.hidden = count() <= CLOUD; plane.classList.toggle("hl-catching", lasso);
  }

  // The steps of training: a slider and a button that plays them
  let time = null, timeNames = "";
  const play = h("button", { "aria-label": "play training", onclick: () => {
    if (timer) return rest();
    play.textContent = "❚❚"; play.setAttribute("aria-label", "pause"); step = 0; time.set(0); draw();
    timer = setInterval(() => { if (step >= stops().length - 1) return rest(); step += 1; time.set(step); draw(); }, 600);
  } }, "▶");
  const rest = () => { clearInterval(timer); timer = null; play.textContent = "▶"; play.setAttribute("aria-label", "play training"); };
  function drawSteps() {
    const names = stops(), made = JSON.stringify(names);
    if (made === timeNames) return;
    timeNames = made; step = Infinity; rest();
    if (!names.length) return clear(steps);
    time = slider("training step", names.length - 1, { max: names.length - 1, step: 1, shown: (i) => names[i] }, (i) => { rest(); step = i; draw(); });
    time.input.style.width = "auto"; time.input.style.flex = "1 1 120px";
    clear(steps, play, time.input, time.out);
  }

  function showTip(x, y, text) {
    tip.hidden = !text; tip.textContent = text ?? "";
    if (!text) return;
    tip.style.left = `${Math.max(4, Math.min(x + 12, size.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + 14 + tip.offsetHeight > size.height ? Math.max(4, y - tip.offsetHeight - 10) : y + 14}px`;
  }
  plane.addEventListener("pointerleave", () => showTip(0, 0, null));

  const draw = fitted(plane, (width) => {
    if (!complete()) return;  // traits arrive one by one, the coordinates last
    const height = Math.round(Math.min(600, Math.max(300, width * 0.8)));
    size = { width, height };
    const n = count();
    places = now();
    cam = camera(n <= MANY && paths().length ? joined() : last(), dims(), width, height, view, turn);
    frame.setAttribute("width", width); frame.setAttribute("height", height);
    (n <= MANY ? few : many)();
    drawCorner();
  });
  const joined = () => { const both = new Float32Array(paths().length + last().length); both.set(paths()); both.set(last(), paths().length); return both; };
  const soon = () => { if (!frameAsked) { frameAsked = true; requestAnimationFrame(() => { frameAsked = false; draw(); }); } };
  const at = (i, from = places) => [cam.x(from, dims() * i), cam.y(from, dims() * i)];
  const colourOf = (i) => ink(entries()[codes()[i]].colour);

  // ---- a few points, each a node of its own that stays while it moves
  const svg = s("svg", { role: "group", tabindex: 0 }), below = s("g", { "aria-hidden": "true" }), dots = s("g"), above = s("g"), words = s("g", { "aria-hidden": "true" }), nodes = new Map();
  svg.append(below, dots, above, words);
  const mark = (i) => facts().marks?.[i] || "";
  function node(i) {
    const { names, details } = facts(), entry = entries()[codes()[i]], kind = mark(i), key = names[i], size_ = names.length > NAMED ? (size.width < 440 ? 4.2 : 5.2) : 6.2, look = JSON.stringify([i, entry.shape, entry.colour, kind, size_]);
    let made = nodes.get(key);
    if (!made) {
      made = { group: s("g", { class: "hl-point", tabindex: 0, role: "button" }), look: "" };
      const { group } = made, here = () => at(made.i);
      group.addEventListener("click", () => { if (!held) select(made.i); });
      group.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); select(made.i); } else walk(e, made.i); });
      group.addEventListener("pointerenter", () => showTip(...here(), facts().details[made.i]));
      group.addEventListener("pointerleave", () => showTip(0, 0, null));
      group.addEventListener("focus", () => { if (group.matches(":focus-visible")) showTip(...here(), facts().details[made.i]); });
      group.addEventListener("blur", () => showTip(0, 0, null));
      nodes.set(key, made);
    }
    made.i = i;
    if (made.look !== look) {
      made.look = look;
      made.group.replaceChildren(s("circle", { r: 13, fill: "transparent" }), marker(kind === "mixture" ? "pentagon" : entry.shape, 0, 0, size_, ink(entry.colour), kind !== ""));
      fill(made.group, { "data-group": codes()[i], "data-mark": kind, "aria-label": `${names[i]}, ${entry.name}${kind === "added" ? ", added later" : ""}` }, []);
    }
    if (made.group.parentNode !== dots) dots.append(made.group);
    return made.group;
  }
  // Arrow keys walk from a point to the nearest one in that direction
  function walk(event, i) {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault(); event.stopPropagation();
    const [x, y] = at(i);
    let best = null, least = Infinity;
    for (const other of nodes.values()) {
      const [ox, oy] = at(other.i), along = (ox - x) * way[0] + (oy - y) * way[1], aside = Math.abs((ox - x) * way[1]) + Math.abs((oy - y) * way[0]);
      if (other.i !== i && along > 2 && other.group.style.display !== "none" && along + 2 * aside < least) { least = along + 2 * aside; best = other; }
    }
    best?.group.focus();
  }
  function few() {
    const { names } = facts(), { width, height } = size, n = names.length, bold = new Set(), spread = floats(model.get("spread")), here = model.get("here"), D = dims(), spots = [], taken = [], code = codes(), axis = model.get("axes"), travelled = atEnd() ? stops().length : step + 1;
    fill(svg, { width, height, "aria-label": `${model.get("title")} Tab reaches every point; arrow keys ${D === 3 ? "turn" : "move"}, plus and minus zoom, 0 shows all.` }, []);
    if (svg.parentElement !== plane) clear(plane, svg, frame, corner, tip);
    for (const [key, made] of nodes) if (names[made.i] !== key || made.i >= n) { made.group.remove(); nodes.delete(key); }
    const visible = [], under = [];
    for (let i = 0; i < n; i++) {
      const group = node(i), [x, y] = at(i), there = Number.isFinite(x) && !hidden.has(code[i]);
      group.style.display = there ? "" : "none";
      if (!there) continue;
      visible.push(i);
      group.style.transform = `translate(${x}px, ${y}px)`;
      group.style.opacity = faint(i, code[i]) ? 0.2 : D === 3 ? Math.max(0.45, Math.min(1, 0.75 + 0.3 * cam.depth(places, D * i))) : 1;
      taken.push({ x: x - 7, y: y - 7, w: 14, h: 14 });
    }
    if (D === 3) under.push(...spokes(axis));
    const ringAt = here.length === D && atEnd() ? [cam.x(here, 0), cam.y(here, 0)] : null;
    if (ringAt) { taken.push({ x: ringAt[0] - 11, y: ringAt[1] - 11, w: 22, h: 22 }); spots.push({ x: ringAt[0], y: ringAt[1], text: "you are here", keep: true }); bold.add("you are here"); }
    taken.push({ x: width - corner.offsetWidth - 10, y: 0, w: corner.offsetWidth + 10, h: corner.offsetHeight + 8 });
    if (briefFor !== names) { briefFor = names; brief = briefly(names); }
    for (const i of namedFirst(visible)) { const [x, y] = at(i), text = brief(names[i]); spots.push({ x, y, text, keep: i === selected }); if (i === selected) bold.add(text); }
    if (travelled && model.get("steps").length > 1) for (const i of visible) {
      const track = model.get("steps").slice(0, travelled).map((_, t) => at(i, moment(t))).filter(([x]) => Number.isFinite(x));
      if (track.length > 1) under.push(polyline(track, { stroke: colourOf(i), "stroke-width": 1.3, opacity: 0.5, class: "hl-track" }));
    }
    if (spread.length && D === 2) for (const i of visible) if (spread.length > 2 * i) { const [x, y] = at(i); under.push(s("ellipse", { cx: x, cy: y, rx: 2 * spread[2 * i] * cam.size, ry: 2 * spread[2 * i + 1] * cam.size, fill: colourOf(i), opacity: 0.12 })); }
    clear(below, under);
    clear(words, placeLabels(spots, width, height - 20, taken).map((label) => label && s("text", { x: label.x, y: label.y, "font-weight": bold.has(label.text) ? 600 : 400, "pointer-events": "none" }, label.text)), titles(axis));
    drawRing(ringAt);
    drawOver();
  }
  // Which points get their names, in this order: all where few are in view, else those that somebody asked for
  function namedFirst(visible) {
    const { width, height } = size, asked = selected == null ? [] : [selected, ...near.map(([j]) => j)], mixture = model.get("mixture"), code = codes();
    const inView = visible.filter((i) => { const [x, y] = at(i); return x >= 0 && y >= 0 && x <= width && y <= height; });
    const wanted = inView.length <= NAMED ? inView : inView.filter((i) => (mixture[facts().names[i]] ?? 0) > 0.005 || (found != null && found[i]) || lit === code[i]);
    return [...new Set([...asked, ...wanted])].filter((i) => visible.includes(i));
  }
  const titles = (axis) => (dims() === 3 ? [] : [s("text", { x: 10, y: size.height - 8, class: "hl-title" }, axis[0] ?? ""), s("text", { x: size.width - 10, y: size.height - (size.width < 440 ? 22 : 8), class: "hl-title", "text-anchor": "end" }, axis[1] ?? "")]);
  function spokes(axis) {
    const reach = cam.radius, names = axis.length ? axis.map((a) => a.split(" ")[0]) : ["1", "2", "3"];
    return names.flatMap((name, d) => {
      const end = cam.middle.map((v, k) => v + (k === d ? reach : 0)), other = cam.middle.map((v, k) => v - (k === d ? reach : 0)), [x, y] = [cam.x(end, 0), cam.y(end, 0)];
      return [s("line", { x1: cam.x(other, 0), y1: cam.y(other, 0), x2: x, y2: y, stroke: "var(--hl-line)", "stroke-width": 1 }), s("text", { x: x + 3, y: y - 3, class: "hl-title" }, name)];
    });
  }

  // A place in the plane becomes a mixture of the three nearest tasks, nearer ones more
  function mixtureAt(x, y) {
    const xy = last(), close = facts().names.map((name, i) => [name, (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2]).sort((a, b) => a[1] - b[1]).slice(0, 3);
    const scale = close.at(-1)[1] || 1, parts = close.map(([name, d]) => [name, 1 / (d / scale + 1e-3)]), total = parts.reduce((t, [, w]) => t + w, 0);
    return Object.fromEntries(parts.map(([name, w]) => [name, w / total]));
  }
  let ringSpot = [0, 0];
  const ring = s("g", { class: "hl-point hl-here", tabindex: 0, role: "slider", "aria-label": "you are here: the mixture" }, s("circle", { r: 10, fill: "transparent", stroke: "var(--hl-mark)", "stroke-width": 2 }), s("circle", { r: 3, fill: "var(--hl-mark)" }));
  const pull = (px, py) => { ringSpot = [px, py]; ring.setAttribute("transform", `translate(${px} ${py})`); kernel.ask({ mixture: mixtureAt(...cam.back(px, py)) }); };
  ring.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    if (dims() === 3) return;
    event.preventDefault(); ring.focus(); ring.setPointerCapture(event.pointerId);
    dragging = true;  // a new drawing would take the ring out of the hand that holds it
    const move = (e) => pull(...spot(e));
    ring.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) ring.addEventListener(end, () => { dragging = false; ring.removeEventListener("pointermove", move); if (!kernel.busy()) draw(); }, { once: true });
  });
  ring.addEventListener("keydown", (event) => {
    const way = { ArrowRight: [14, 0], ArrowLeft: [-14, 0], ArrowUp: [0, -14], ArrowDown: [0, 14] }[event.key];
    if (!way || dims() === 3) return;
    event.preventDefault(); event.stopPropagation();
    pull(ringSpot[0] + way[0], ringSpot[1] + way[1]);
  });
  function drawRing(where) {
    if (!where) return ring.remove();
    ring.setAttribute("aria-valuetext", Object.entries(model.get("mixture")).map(([n, w]) => `${two(w)} ${n}`).join(", "));
    if (!dragging) { ringSpot = where; ring.setAttribute("transform", `translate(${where[0]} ${where[1]})`); }
    ring.style.cursor = dims() === 3 ? "default" : "grab";
    if (ring.parentNode !== above) above.append(ring);
  }

  // ---- many points, painted at most once a frame
  const canvas = h("canvas", { tabindex: 0, role: "img" });
  const faint = (i, c) => (lit != null && lit !== c) || (found != null && !found[i]);
  function many() {
    const n = count(), { width, height } = size, ratio = Math.min(2, window.devicePixelRatio || 1), wide = Math.round(width * ratio), high = Math.round(height * ratio), began = performance.now();
    if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; canvas.style.cssText = `width:${width}px;height:${height}px`; }
    canvas.setAttribute("aria-label", `${model.get("title")} ${n} points. Arrow keys ${dims() === 3 ? "turn" : "move"}, plus and minus zoom, 0 shows all, Enter opens the point in the middle, l lists the points in view.`);
    if (canvas.parentElement !== plane) clear(plane, canvas, frame, corner, tip);
    const own = (getComputedStyle(root).color.match(/\d+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);  // a page may draw before it shows the panel
    const colours = entries().map((e) => (e.colour === "#000000" ? own : [1, 3, 5].map((k) => parseInt(e.colour.slice(k, k + 2), 16)))), context = canvas.getContext("2d");
    // in an order that is neither that of the tasks nor random: no group lies on top of the others
    const job = { n, codes: codes(), places, cam, entries: entries(), colours, hidden, faint, ratio, wide, high, stride: [7919, 6007, 5003, 1].find((p) => p === 1 || n % p) };
    context.clearRect(0, 0, wide, high);
    (n > CLOUD ? (dense ? paintDensity : paintCloud) : paintShapes)(context, job);
    root.dataset.drawMs = (performance.now() - began).toFixed(1);
    root.dataset.drawn = String(1 + Number(root.dataset.drawn ?? 0));
    drawOver();
  }

  // ---- over both: what is selected, lines to its neighbours, points that were found, the lasso
  let rope = [];
  function drawOver() {
    const parts = [], crowd = count() > MANY;
    if (crowd) parts.push(...titles(model.get("axes")), ...(dims() === 3 ? spokes(model.get("axes")) : []));
    if (crowd && canvas.matches(":focus-visible")) parts.push(s("path", { d: `M${size.width / 2 - 9} ${size.height / 2}h18M${size.width / 2} ${size.height / 2 - 9}v18`, stroke: "var(--hl-mark)", "stroke-width": 1.5, "data-middle": "" }));
    if (selected != null && selected < count()) {
      const [x, y] = at(selected);
      for (const [j, c] of near) { const [px, py] = at(j); if (c > 0 && Number.isFinite(px)) parts.push(s("line", { class: "hl-near", x1: x, y1: y, x2: px, y2: py, stroke: "var(--hl-mark)", "stroke-width": 0.6 + 1.8 * Math.max(0, c), opacity: 0.25 + 0.5 * Math.max(0, c) }), crowd ? s("circle", { cx: px, cy: py, r: 4, fill: colourOf(j), stroke: "var(--hl-card)" }) : null); }
      parts.push(s("circle", { class: "hl-chosen", cx: x, cy: y, r: crowd ? 7 : 11.5, fill: "none", stroke: "var(--hl-accent)", "stroke-width": 2.2 }));
    }
    if (rope.length > 1) parts.push(s("path", { d: "M" + rope.map(([x, y]) => `${x.toFixed(0)} ${y.toFixed(0)}`).join("L") + "Z", fill: "var(--hl-accent)", "fill-opacity": 0.1, stroke: "var(--hl-accent)", "stroke-dasharray": "4 3" }));
    clear(frame, parts);
  }

  // ---- the hand on the map: move or turn, zoom, catch
  const spot = (e) => { const box = plane.getBoundingClientRect(); return [e.clientX - box.left - plane.clientLeft, e.clientY - box.top - plane.clientTop]; };
  const surface = () => (count() <= MANY ? svg : canvas);
  function zoom(k, px = size.width / 2, py = size.height / 2) {
    const x = px - size.width / 2, y = py - size.height / 2;
    view = { k: Math.min(400, Math.max(0.3, view.k * k)), x: (view.x - x) * k + x, y: (view.y - y) * k + y };
    still(soon);
  }
  let calm = null;
  function still(act) { plane.classList.add("hl-still"); clearTimeout(calm); calm = setTimeout(() => plane.classList.remove("hl-still"), 200); act(); }  // what a hand moves must not glide after it
  function nearest(px, py, reach = 12) {
    let best = -1, least = reach * reach;
    const n = count(), code = codes();
    for (let i = 0; i < n; i++) { if (hidden.has(code[i])) continue; const [x, y] = at(i), d = (x - px) ** 2 + (y - py) ** 2; if (d < least) { least = d; best = i; } }
    return best;
  }
  let from = null;
  plane.addEventListener("wheel", (e) => {  // a page must scroll past a map that nobody uses
    if (!plane.contains(document.activeElement) && !e.ctrlKey && !e.metaKey) return;
    e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), ...spot(e));
  }, { passive: false });
  plane.addEventListener("pointerdown", (e) => {
    if (e.button || e.target.closest(".hl-corner") || !cam) return;
    from = { spot: spot(e), view: { ...view }, turn: { ...turn }, catches: lasso || e.shiftKey, moved: false, id: e.pointerId, target: e.target };
    rope = from.catches ? [from.spot] : [];
    if (!e.target.closest(".hl-point")) surface().focus({ preventScroll: true });
  });
  plane.addEventListener("pointermove", (e) => {
    const [px, py] = spot(e);
    if (!from) {
      if (count() > MANY && e.target === canvas) { const i = nearest(px, py); showTip(px, py, i < 0 ? null : facts().details?.[i] ?? entries()[codes()[i]].name); }
      return;
    }
    if (!from.moved && Math.hypot(px - from.spot[0], py - from.spot[1]) < 5) return;
    if (!from.moved) { from.moved = held = true; plane.setPointerCapture(from.id); showTip(0, 0, null); }
    if (from.catches) { rope.push([px, py]); drawOver(); }
    else if (dims() === 3) { turn = { yaw: from.turn.yaw + (px - from.spot[0]) / 140, pitch: Math.max(-1.57, Math.min(1.57, from.turn.pitch + (py - from.spot[1]) / 140)) }; still(soon); }
    else { view = { ...view, x: from.view.x + px - from.spot[0], y: from.view.y + py - from.spot[1] }; still(soon); }
  });
  for (const end of ["pointerup", "pointercancel"]) plane.addEventListener(end, (e) => {
    if (!from) return;
    const was = from, line_ = rope;
    from = null; rope = [];
    setTimeout(() => { held = false; });  // after the click that ends a drag
    if (end === "pointercancel") return drawOver();
    if (was.moved && was.catches) { lasso = false; drawCorner(); caught((x, y) => inside(line_, x, y)); }
    else if (!was.moved && !was.target.closest(".hl-point")) { const i = count() > MANY ? nearest(...was.spot) : -1; if (i >= 0) select(i); else if (selected != null) { forget(); draw(); } }
    drawOver();
  });
  plane.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest(".hl-corner")) return;
    const way = { ArrowRight: [-1, 0], ArrowLeft: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key], act = {
      "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: () => { view = fresh(); turn = { ...LEVEL }; draw(); }, Escape: () => { forget(); query = find.value = ""; draw(); },
      l: () => caught((x, y) => x >= 0 && y >= 0 && x <= size.width && y <= size.height), Enter: () => { const i = nearest(size.width / 2, size.height / 2, 1e4); if (i >= 0) select(i); },
    }[e.key];
    if (!way && !act) return;
    e.preventDefault(); e.stopPropagation();
    if (act) act();
    else if (dims() === 3) { turn = { yaw: turn.yaw - way[0] * 0.15, pitch: Math.max(-1.57, Math.min(1.57, turn.pitch - way[1] * 0.15)) }; still(soon); }
    else { view = { ...view, x: view.x + 40 * way[0], y: view.y + 40 * way[1] }; still(soon); }
  });
  canvas.addEventListener("focus", () => drawOver());
  canvas.addEventListener("blur", () => drawOver());

  // ---- what is told below: neighbours, a selection, what was found
  const row = (i) => [i, facts().names[i], named() && facts().tasks ? entries()[codes()[i]].name : "", facts().details[i]];
  function forget() { selected = null; near = []; list = {}; found = null; drawTold(); }
  function select(i) {
    selected = i;
    near = facts().near?.[i] ?? [];
    list = named() ? { kind: "near", of: row(i), rows: near.map(([j, c]) => [...row(j), c]) } : { kind: "near", of: [i, entries()[codes()[i]].name, "", ""], rows: [], waits: !model.frozen };
    drawTold(); draw();
    const wish = facts().tasks ? { mixture: { [facts().names[i]]: 1 } } : {};
    if (!near.length && count() > 1) wish.near = i;
    if (Object.keys(wish).length) kernel.ask(wish);
  }
  function caught(within) {
    const chosen = [];
    const n = count(), code = codes();
    for (let i = 0; i < n; i++) { const [x, y] = at(i); if (!hidden.has(code[i]) && within(x, y)) chosen.push(i); }
    const shares = new Map();
    for (const i of chosen) shares.set(codes()[i], 1 + (shares.get(codes()[i]) ?? 0));
    selected = null; near = [];
    list = { kind: "chosen", count: chosen.length, shares: [...shares].sort((p, q) => q[1] - p[1]), rows: named() ? chosen.slice(0, 200).map(row) : [], waits: !named() && !model.frozen && chosen.length > 0 };
    if (list.waits) kernel.ask({ selected: chosen.slice(0, 500), count: chosen.length });
    drawTold(); draw();
  }
  let typing = null;
  function search() {
    const parts = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
    clearTimeout(typing);
    if (!parts.length) { forget(); return soon(); }
    if (named() || model.frozen) {
      const rows = (facts().names ?? []).map((_, i) => row(i)).filter((r) => parts.every((p) => `${r[1]} ${r[2]} ${r[3]}`.toLowerCase().includes(p)));
      mine(new Uint32Array(rows.map((r) => r[0])), { kind: "found", text: query, count: rows.length, rows: rows.slice(0, 200) });
    } else typing = setTimeout(() => kernel.ask({ find: query }), 250);
  }
  function mine(hits, words) {
    found = new Uint8Array(count());
    for (const i of hits) found[i] = 1;
    selected = null; near = []; list = words;
    drawTold(); soon();
  }
  const dismiss = () => h("button", { "aria-label": "close the list", class: "hl-close", onclick: () => { forget(); query = find.value = ""; draw(); } }, "×");
  const untold = () => `A saved page keeps the texts of at most ${facts().told?.toLocaleString("en") ?? "a few thousand"} points, and here are ${count().toLocaleString("en")}: open the map with a kernel to read them.`;
  const glyphOf = (i) => (mark(i) === "mixture" ? glyph("pentagon", entries()[codes()[i]].colour, true) : glyph(entries()[codes()[i]]?.shape, entries()[codes()[i]]?.colour ?? "#7f7f7f", mark(i) !== ""));
  const head = (...parts) => h("div", { class: "hl-head hl-told-head" }, h("h4", { style: "margin:0" }, parts), dismiss());
  const table = (rows) => h("div", { class: "hl-scroll", style: "max-height:260px", tabindex: 0, role: "region", "aria-label": "points in the list" }, h("table", {}, h("tbody", {}, rows.map(([i, name, answer, text]) =>
    h("tr", { "data-row": i }, h("td", {}, glyphOf(i), " ", h("button", { class: "hl-open", title: name, onclick: () => select(i) }, brief(name))), answer ? h("td", {}, facts().tasks ? answer : `“${answer}”`) : h("td", {}, facts().tasks ? "" : "(empty)"), h("td", { style: "white-space:normal" }, facts().tasks ? (text ?? "").replace(/^.*?; /, "") : text))))));
  function drawTold() {
    const { kind, rows = [], of } = list;
    if (!kind) return clear(told, complete() ? h("p", { class: "hl-note hl-hint" }, count() > MANY ? "Click a point for its neighbours; with Lasso, or Shift, draw around points to list them." : count() > NAMED ? "Stay on a point for its name, zoom in to see all names; click for its neighbours; drag the ring to mix tasks where it lies." : "Click a point for its neighbours; drag the ring to mix tasks where it lies.") : null);
    if (kind === "near") {
      const [i, name, answer, text] = of;
      return clear(told, head(glyphOf(i), " ", name, answer && !facts().tasks ? ` → “${answer}”` : ""), text ? h("p", { class: "hl-note", style: "margin:2px 0 6px" }, facts().tasks ? text.replace(/;[^;]*$/, "") : text) : null,
        rows.length ? h("ol", { class: "hl-nearest", "aria-label": "nearest points" }, rows.map(([j, other, said, what, c]) => h("li", { "data-row": j }, h("span", {}, glyphOf(j), " ", h("button", { class: "hl-open", title: other, onclick: () => select(j) }, brief(other))),
          h("span", { class: "hl-similar", title: `cosine ${two(c)}` }, h("i", { style: `width:${Math.max(0, 100 * c).toFixed(0)}%` })), h("output", {}, two(c)), facts().tasks ? null : h("span", { class: "hl-wanted hl-what" }, `“${said}” ${what ?? ""}`))))
        : h("p", { class: "hl-note" }, list.waits ? "Looking for its neighbours …" : count() < 2 ? "There is no other point." : `Neighbours are computed by a kernel: this is a saved page.${named() ? "" : ` ${untold()}`}`));
    }
    const n = list.count ?? rows.length, points = `${n.toLocaleString("en")} point${n === 1 ? "" : "s"}`;
    const title = kind === "found" ? (n ? `${points} with “${list.text.trim()}”` : model.frozen && !named() ? untold() : `No point has “${list.text.trim()}”`) : n ? points : "No point is inside";
    const shares = (list.shares ?? []).slice(0, 8).flatMap(([c, m]) => [glyph(entries()[c].shape, entries()[c].colour), ` ${entries()[c].name} ${m.toLocaleString("en")}  `]);
    clear(told, head(title), shares.length > 2 ? h("p", { class: "hl-note", style: "margin:2px 0 6px" }, shares) : null, rows.length ? table(rows) : list.waits ? h("p", { class: "hl-note" }, "Reading them …") : null,
      rows.length && rows.length < n ? h("p", { class: "hl-note" }, `The first ${rows.length} of ${n.toLocaleString("en")}.`) : null);
  }
  function heard() {  // what the kernel says of points that have no words on the page
    const said = model.get("told");
    if (!said.kind || named()) return;
    if (said.kind === "found" && said.text === query) mine(whole(model.get("hits"), Uint32Array), said);
    else if (said.kind === "near" && said.of[0] === selected) { near = said.rows.map((r) => [r[0], r[4]]); list = said; drawTold(); drawOver(); }
    else if (said.kind === "chosen" && list.kind === "chosen") { list = { ...said, shares: list.shares }; drawTold(); }
  }

  function light(group) { lit = group; soon(); }
  function drawWords() {
    sub.textContent = model.get("title");
    root.querySelector("h3").textContent = facts().tasks === false ? "Where the inputs live" : "Where the tasks live";
    warn.textContent = model.get("warning"); warn.hidden = !model.get("warning");
    const marks = facts().marks ?? [], note = (...parts) => h("li", { class: "hl-key" }, ...parts), focused = [...legend.querySelectorAll("button")].indexOf(document.activeElement);
    const oval = s("svg", { class: "hl-glyph", width: 18, height: 12, "aria-hidden": "true" }, s("ellipse", { cx: 9, cy: 6, rx: 8, ry: 5, fill: "currentColor", opacity: 0.2 }));
    clear(legend, entries().map((entry, i) => h("li", {}, h("button", { "aria-pressed": String(!hidden.has(i)), style: `border:0;padding:0 2px;min-height:0;background:none;opacity:${hidden.has(i) ? 0.4 : 1}`,
      title: "click to hide or show; stay on it to see it alone", onpointerenter: () => light(i), onpointerleave: () => light(null), onfocus: () => light(i), onblur: () => light(null),
      onclick: () => { if (hidden.has(i)) hidden.delete(i); else hidden.add(i); drawWords(); draw(); } }, glyph(entry.shape, entry.colour, entry.shape === "pentagon"), ` ${entry.name}`))),
      marks.includes("added") ? note(glyph("circle", "var(--hl-soft)", true), "hollow: added later") : null,
      model.get("spread").byteLength ? note(oval, "ellipse: how far a point moves by chance (two standard deviations when its numbers are drawn again)") : null,
      model.get("steps").length > 1 ? note(stroke("currentColor", null, 1.3), "lines: the way during training") : null);
    if (focused >= 0) legend.querySelectorAll("button")[focused]?.focus();
  }

  let drawnFor = "";
  function all() {
    if (!count()) { clear(body, h("p", {}, model.get("warning") || "The map is on its way.")); sub.textContent = model.get("title"); return; }
    if (plane.parentElement !== body) clear(body, tools, rare, plane, steps, legend, warn, told);
    const what = JSON.stringify([model.get("shown"), count(), facts().names]);
    if (what !== drawnFor) { drawnFor = what; selected = null; near = []; list = {}; found = null; if (query && complete()) search(); }
    else if (selected != null && facts().near?.[selected]) select_again();
    drawTools(); drawSteps(); drawWords(); drawTold(); draw();
  }
  const select_again = () => { near = facts().near[selected]; list = { kind: "near", of: row(selected), rows: near.map(([j, c]) => [...row(j), c]) }; };
  // Listen first, then draw: what arrives in between would be missed
  model.on("change:coordinates", all);
  for (const name of ["title", "warning"]) model.on(`change:${name}`, () => { if (!count()) all(); });
  model.on("change:shown", drawTools);
  model.on("change:options", drawTools);
  model.on("change:here", () => { if (!dragging) draw(); kernel.timed("here"); });
  model.on("change:answered", () => { if (!dragging && !kernel.busy()) all(); else drawTools(); });
  model.on("change:told", heard);
  model.on("change:hits", heard);
  onTheme(soon);
  all();
}
export default { render };
