// Points on a screen: where they lie, how many of them are painted, and which a hand has caught.
function floats(view) {
  if (!view) return new Float32Array(0);
  const at = view.byteOffset ?? 0, bytes = view.buffer ?? view;
  return new Float32Array(bytes.slice(at, at + (view.byteLength ?? bytes.byteLength)));
}
const whole = (view, Kind) => { const at = view?.byteOffset ?? 0; return view ? new Kind((view.buffer ?? view).slice(at, at + view.byteLength)) : new Kind(0); };

// Labels beside their points, each in the first free place of eight; a label without room is left to hovering, or kept inside the border.
function placeLabels(spots, width, height, taken) {
  const free = (box) => box.x > 1 && box.x + box.w < width - 1 && box.y > 1 && box.y + box.h < height - 1 &&
    taken.every((t) => box.x + box.w < t.x || t.x + t.w < box.x || box.y + box.h < t.y || t.y + t.h < box.y);
  return spots.map(({ x, y, text, keep }) => {
    const w = text.length * 6.4 + 4, hgt = 14, r = 10;
    const tries = [[r, -hgt / 2], [-r - w, -hgt / 2], [-w / 2, -r - hgt], [-w / 2, r], [r - 3, -r - 8], [r - 3, r - 6], [-r - w + 3, -r - 8], [-r - w + 3, r - 6]];
    const inward = Math.max(2 - x, Math.min(width - w - 2 - x, -w / 2));  // a name that is kept may stand further off, between the borders
    if (keep) tries.push(...[24, 40, 58, 76].flatMap((far) => [[-w / 2, far], [-w / 2, -far - hgt], [inward, far], [inward, -far - hgt], [far, -hgt / 2], [-far - w, -hgt / 2]]));
    for (const [dx, dy] of tries) {
      const box = { x: x + dx, y: y + dy, w, h: hgt };
      if (free(box)) { taken.push(box); return { x: box.x + 2, y: box.y + 11, text }; }
    }
    return keep ? { x: Math.max(3, Math.min(width - w - 3, x - w / 2)), y: Math.max(12, Math.min(height - 5, y < height / 2 ? y + 26 : y - 16)), text } : null;
  });
}

// From numbers to pixels, in a plane or turned in space: each pixel coordinate is a sum of the point's own, with these factors.
function camera(values, dims, width, height, view, turn, margin = 44) {
  const low = Array(dims).fill(Infinity), high = Array(dims).fill(-Infinity);
  for (let o = 0; o < values.length; o += dims) for (let d = 0; d < dims; d++) { const v = values[o + d]; if (v < low[d]) low[d] = v; if (v > high[d]) high[d] = v; }
  const middle = low.map((v, d) => (Number.isFinite(v) ? (v + high[d]) / 2 : 0)), [cy, sy, cp, sp] = [Math.cos(turn.yaw), Math.sin(turn.yaw), Math.cos(turn.pitch), Math.sin(turn.pitch)];
  let size, rows = [[1, 0, 0], [0, 1, 0], [0, 0, 0]], radius = 1;
  if (dims === 2) size = Math.min((width - 2 * margin) / (high[0] - low[0] || 1), (height - 2 * margin) / (high[1] - low[1] || 1));
  else {
    let most = 0;
    for (let o = 0; o < values.length; o += 3) { const d = (values[o] - middle[0]) ** 2 + (values[o + 1] - middle[1]) ** 2 + (values[o + 2] - middle[2]) ** 2; if (d > most) most = d; }
    radius = Math.sqrt(most) || 1;
    size = (Math.min(width, height) / 2 - margin * 0.75) / radius;
    rows = [[cy, 0, sy], [sp * sy, cp, -sp * cy], [-cp * sy, sp, cp * cy]];
  }
  if (!Number.isFinite(size) || size <= 0) size = 1;
  size *= view.k;
  const dot = (row) => row.slice(0, dims).reduce((sum, v, d) => sum + v * middle[d], 0);
  const A = rows[0].map((v) => v * size), B = rows[1].map((v) => -v * size), C = rows[2].map((v) => v / radius);
  A.push(width / 2 + view.x - dot(A)); B.push(height / 2 + view.y - dot(B)); C.push(-dot(C));
  const along = ([a, b, c, d], p, o) => a * p[o] + b * p[o + 1] + (dims > 2 ? c * p[o + 2] : 0) + d;
  return { A, B, C, size, dims, radius, middle, x: (p, o) => along(A, p, o), y: (p, o) => along(B, p, o), depth: (p, o) => (dims > 2 ? along(C, p, o) : 0),
    back: (px, py) => [(px - A[3]) / A[0], (py - B[3]) / B[1]] };
}

// Many points as dots that mix where they lie on each other; groups in `hidden` are left out, others than the lit or found ones are faint.
function paintCloud(context, { n, codes, places, cam, colours, hidden, faint, ratio, wide, high, stride }) {
  const image = context.createImageData(wide, high), data = image.data, dot = Math.max(1, Math.round((n > 20000 ? 1.5 : 2) * ratio)), D = cam.dims;
  const [ax, ay, az, a0] = cam.A.map((v) => v * ratio), [bx, by, bz, b0] = cam.B.map((v) => v * ratio), half = dot / 2;
  for (let at = 0, i = 0; at < n; at++, i = (i + stride) % n) {
    const c = codes[i];
    if (hidden.has(c)) continue;
    const o = D * i, p = places[o], q = places[o + 1], z = D > 2 ? places[o + 2] : 0, left = Math.round(ax * p + ay * q + az * z + a0 - half), top = Math.round(bx * p + by * q + bz * z + b0 - half);
    if (!(left >= 0 && top >= 0 && left + dot < wide && top + dot < high)) continue;
    const [r, g, b] = colours[c], alpha = faint(i, c) ? 0.04 : D > 2 ? Math.max(0.15, Math.min(0.9, 0.55 + 0.4 * cam.depth(places, o))) : 0.6;
    for (let y = top; y < top + dot; y++) for (let k = 4 * (y * wide + left), end = k + 4 * dot; k < end; k += 4) {
      const before = data[k + 3] / 255, after = alpha + before * (1 - alpha), share = alpha / after;
      data[k] += (r - data[k]) * share; data[k + 1] += (g - data[k + 1]) * share; data[k + 2] += (b - data[k + 2]) * share; data[k + 3] = 255 * after;
    }
  }
  context.putImageData(image, 0, 0);
}

// Some thousands as the shapes of their groups.
function paintShapes(context, { n, codes, places, cam, entries, colours, hidden, faint, ratio, stride }) {
  const forms = entries.map((e) => new Path2D(outline(e.shape, 0, 0, n > 1500 ? 2.6 : 3.4)));
  for (let at = 0, i = 0; at < n; at++, i = (i + stride) % n) {
    const c = codes[i], o = cam.dims * i;
    if (hidden.has(c)) continue;
    context.setTransform(ratio, 0, 0, ratio, cam.x(places, o) * ratio, cam.y(places, o) * ratio);
    context.globalAlpha = faint(i, c) ? 0.06 : 0.75;
    context.fillStyle = `rgb(${colours[c]})`;
    context.fill(forms[c]);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha = 1;
}

// How many points lie where, in the mixed colour of their groups: opacity grows with the logarithm of their number.
function paintDensity(context, { n, codes, places, cam, colours, hidden, faint, wide, high, ratio }) {
  const cell = 3 * ratio, w = Math.ceil(wide / cell), t = Math.ceil(high / cell), sums = [0, 1, 2, 3].map(() => new Float32Array(w * t)), step = ratio / cell;
  const D = cam.dims, [ax, ay, az, a0] = cam.A.map((v) => v * step), [bx, by, bz, b0] = cam.B.map((v) => v * step);
  for (let i = 0; i < n; i++) {
    const c = codes[i], o = D * i;
    if (hidden.has(c) || faint(i, c)) continue;
    const p = places[o], q = places[o + 1], z = D > 2 ? places[o + 2] : 0, x = Math.floor(ax * p + ay * q + az * z + a0), y = Math.floor(bx * p + by * q + bz * z + b0);
    if (!(x >= 0 && y >= 0 && x < w && y < t)) continue;
    const at = y * w + x;
    sums[3][at] += 1;
    for (let d = 0; d < 3; d++) sums[d][at] += colours[c][d];
  }
  const smooth = (from, along, lines, next, line) => { const to = new Float32Array(from.length); for (let l = 0; l < lines; l++) for (let i = 0; i < along; i++) { const at = l * line + i * next; to[at] = (from[at] * 2 + (i ? from[at - next] : 0) + (i < along - 1 ? from[at + next] : 0)) / 4; } return to; };
  const soft = sums.map((s) => { let f = s; for (let pass = 0; pass < 2; pass++) f = smooth(smooth(f, w, t, 1, w), t, w, w, 1); return f; });
  let most = 0;
  for (const v of soft[3]) if (v > most) most = v;
  const small = new OffscreenCanvas(w, t), pen = small.getContext("2d"), image = pen.createImageData(w, t);
  for (let at = 0; at < w * t; at++) {
    const v = soft[3][at];
    if (v < 1e-3) continue;
    for (let d = 0; d < 3; d++) image.data[4 * at + d] = soft[d][at] / v;
    image.data[4 * at + 3] = 255 * Math.min(1, 0.06 + 0.94 * (Math.log1p(v * 8) / Math.log1p(most * 8)));
  }
  pen.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(small, 0, 0, w * cell, t * cell);
}

// Whether a place lies inside a line that a hand has drawn.
function inside(line, x, y) {
  let within = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [xi, yi] = line[i], [xj, yj] = line[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

// A drawing whose colours depend on light or dark is made again when that changes.
function onTheme(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const watcher = new MutationObserver(redraw);
  for (const node of [document.documentElement, document.body]) watcher.observe(node, { attributes: true });
}
