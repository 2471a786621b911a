// Describe a task: words and examples in, where it lies, the adapter that is written, its answers, tuning, and keeping it.
function render({ model, el }) {
  const { root, body, sub, status, line: kernel } = panel(model, el, "writer", "Describe a task", model.get("about"));
  const working = () => Boolean(model.get("working")?.what), drafted = () => model.get("near").length > 0;
  const keepKeys = (node) => node.addEventListener("keydown", (event) => event.stopPropagation());
  const section = (title, ...children) => h("div", {}, h("h4", {}, title), ...children);

  // What was typed goes to the kernel when the hand rests; a field that the reader is in is never written into
  const fields = {};
  let clock = null, typed = {};
  const send = (more = {}) => { clearTimeout(clock); const wish = { ...typed, ...more }; typed = {}; if (Object.keys(wish).length) kernel.ask(wish); };
  function area(name, label, rows, placeholder, live = true) {
    const node = h("textarea", { "aria-label": label, rows, placeholder, spellcheck: "false", oninput: () => { typed[name] = node.value; clearTimeout(clock); if (live) clock = setTimeout(() => { if (node.value.trim()) send(); }, 700); },
      onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send({ [name]: node.value }); }, onchange: () => { if (name in typed) send(); } });
    node.value = model.get(name);
    if (model.frozen) node.disabled = true;
    keepKeys(node);
    fields[name] = node;
    model.on(`change:${name}`, () => { if (!(name in typed) && node.value !== model.get(name)) node.value = model.get(name); });
    return node;
  }
  const description = area("description", "what the task asks", 3, "Is the opinion about a film good or bad? Answer big if it is good, small if not.");
  const text = area("text", "text to be answered", 3, "a text of your own"), lines = area("lines", "examples, text => answer", 4, "sentence: the film was wonderful => big", false);  // a half-typed line is no example yet
  const write = h("button", { class: "hl-main", onclick: () => send({ description: description.value, text: text.value }) }, "Write the adapter");

  const presets = h("div", { class: "hl-row hl-live hl-presets" });
  function drawPresets() {
    const take = (preset) => { typed = {}; clearTimeout(clock); kernel.ask({ preset }); };
    clear(presets, model.get("presets").map((one, i) => h("button", { "aria-current": one.description === model.get("description") ? "true" : null, title: one.description, onclick: () => take(i) }, one.title)));
  }

  // Where it lies: the known tasks small and quiet, the description as a ring
  const plane = h("div", { class: "hl-plane" }), near = h("div", { class: "hl-answers hl-near", style: "margin-top:8px" }), legend = h("ul", { class: "hl-legend" });
  const drawPlane = fitted(plane, (width) => {
    const { tasks = [], here } = model.get("plane"), height = Math.round(Math.min(300, width * 0.72)), places = [...tasks.map((t) => t.at), ...(here ? [here] : [])];
    const [x0, x1] = extent(places.map((p) => p[0])), [y0, y1] = extent(places.map((p) => p[1])), size = Math.min((width - 40) / (x1 - x0 || 1), (height - 40) / (y1 - y0 || 1));
    const X = (x) => width / 2 + (x - (x0 + x1) / 2) * size, Y = (y) => height / 2 - (y - (y0 + y1) / 2) * size, close = model.get("near").slice(0, 3).map(([n]) => n);
    const said = here ? `among ${tasks.length} tasks the description lies nearest to ${close.join(", ")}` : `${tasks.length} tasks that the model knows`;
    clear(plane, s("svg", { width, height, role: "img", "aria-label": said, "data-here": here ? here.join(",") : "" },
      here ? tasks.filter((t) => close.includes(t.name)).map((t) => s("line", { x1: X(here[0]), y1: Y(here[1]), x2: X(t.at[0]), y2: Y(t.at[1]), stroke: "var(--hl-soft)", "stroke-dasharray": "3 3" })) : null,
      tasks.map((t) => { const mark = marker(t.shape, X(t.at[0]), Y(t.at[1]), close.includes(t.name) ? 5.5 : 4, ink(t.colour), t.added); mark.append(s("title", {}, `${t.name} (${t.family})`)); if (here && !close.includes(t.name) && !t.added) mark.setAttribute("opacity", 0.45); return mark; }),
      here ? [s("circle", { cx: X(here[0]), cy: Y(here[1]), r: 9, fill: "none", stroke: "var(--hl-mark)", "stroke-width": 2.5 }), s("circle", { cx: X(here[0]), cy: Y(here[1]), r: 2.5, fill: "var(--hl-mark)" })] : null));
  });
  function drawNear() {
    const tasks = model.get("plane").tasks ?? [], named = (n) => tasks.find((t) => t.name === n) ?? { colour: "#7f7f7f" };
    const families = [...new Map(tasks.map((t) => [t.family, t])).values()];
    clear(legend, families.map((t) => h("li", {}, glyph(t.shape, t.colour), t.family)), model.get("plane").here ? h("li", {}, h("span", { class: "hl-dot hl-ring", style: "--dot:var(--hl-mark)" }), "this description") : null);
    clear(near, model.get("near").map(([name, cosine], i) => h("div", { class: "hl-bar" + (i ? "" : " hl-first") }, h("span", {}, name, " ", glyph(named(name).shape, named(name).colour, named(name).added)),
      h("div", {}, h("div", { style: `width:${(100 * Math.max(0, cosine)).toFixed(1)}%` })), h("output", { title: "cosine of the task vectors" }, two(cosine)))));
  }

  const answers = h("div", { class: "hl-three" });
  function drawAnswers() {
    const found = model.get("answers");
    clear(answers, found.length ? found.map(({ who, text: said, probabilities }, i) => h("div", { "data-said": said }, h("h4", {}, i ? who : "this description"), h("p", { class: "hl-says" }, said ? `“${said}”` : "nothing"),
      h("div", { class: "hl-answers" }, probabilities.map(({ word, p }) => h("div", { class: "hl-bar" + (word === said.trim() ? " hl-first" : "") }, h("span", {}, word), h("div", {}, h("div", { style: `width:${(100 * p).toFixed(1)}%` })), h("output", {}, two(p))))))) :
      h("p", { class: "hl-note" }, drafted() ? "Type a text to see three answers: by this description, by the nearest task, and without any adapter." : "The answers come here: by the description, by the nearest task, and without any adapter."));
    root.dataset.answers = JSON.stringify(found.map((a) => a.text));
  }

  const canvas = h("canvas", { class: "hl-heat", role: "img" }), seen = h("p", { class: "hl-note" }), where = h("span", { class: "hl-live" });
  function drawView() {
    const view = model.get("view"), sites = model.get("sites");
    canvas.hidden = !view.rows;
    seen.textContent = view.rows ? `${view.name} (${view.rows.length} × ${view.rows[0].length}) at ${view.site}, norm ${short(view.norm)}; colours span ±${short(view.limit)}.` : "";
    if (sites.length > 1 && !where.childElementCount) clear(where, choice("site of the adapter", sites, model.get("site"), (site) => send({ site })));
    if (!view.rows) return;
    heat(canvas, view.rows, view.limit);
    canvas.style.height = `${Math.min(130, Math.max(48, view.rows.length * 5))}px`;
    canvas.setAttribute("aria-label", `${view.name} at ${view.site} as a heat map`);
    root.dataset.norm = view.norm;
  }

  // Examples: typed, dropped or chosen as a file
  const picker = h("input", { type: "file", accept: ".csv,.tsv,.jsonl,.txt", hidden: true, onchange: () => { take(picker.files[0]); picker.value = ""; } });
  async function take(file) {
    if (!file) return;
    if (file.size > 2e6) { status.textContent = `${file.name}: expected a file of at most 2 MB, received ${(file.size / 1e6).toFixed(1)} MB.`; return; }
    const url = await new Promise((done) => { const reader = new FileReader(); reader.onload = () => done(reader.result); reader.readAsDataURL(file); });
    typed = {};
    kernel.ask({ file: { name: file.name, content: url.slice(url.indexOf(",") + 1) } });
  }
  lines.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
  lines.addEventListener("drop", (event) => { const file = event.dataTransfer?.files[0]; if (file) { event.preventDefault(); take(file); } });
  const tune = h("button", { onclick: () => send({ lines: lines.value, tune: true }) }, "Tune on the examples"), untune = h("button", { onclick: () => send({ untune: true }) }, "Undo the tuning");
  const judged = h("div", { class: "hl-scroll", style: "max-height:260px" }), trials = h("div");
  function drawExamples() {
    const found = model.get("examples"), right = found.filter((e) => e.right).length;
    clear(judged, found.length ? [h("p", { class: "hl-note" }, `${right} of ${found.length} examples are answered as wanted.`), h("table", { class: "hl-sides" }, h("thead", {}, h("tr", {}, ["example", "wanted", "answer"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, found.map((e) => h("tr", {}, h("td", {}, e.text), h("td", {}, e.wanted), h("td", { "data-right": e.right }, h("span", { class: e.right ? "hl-right" : "hl-wrong", role: "img", "aria-label": e.right ? "right" : "wrong" }, e.right ? "✓" : "✗"), ` ${e.said}`)))))] : null);
    judged.tabIndex = found.length ? 0 : -1;
    root.dataset.right = `${right}/${found.length}`;
  }
  function drawTuning() {
    const found = model.get("tuning"), most = Math.max(...(found.trials ?? []).map((t) => t.loss), 1e-9);
    clear(trials, found.trials?.length ? [h("h4", { style: "margin-top:8px" }, "Loss of examples that are held out in turn, by steps"), h("div", { class: "hl-answers" }, found.trials.map((t) => h("div", { class: "hl-bar" + (t.steps === found.steps ? " hl-first" : "") }, h("span", {}, t.steps), h("div", {}, h("div", { style: `width:${((100 * t.loss) / most).toFixed(1)}%` })), h("output", {}, two(t.loss))))),
      found.done ? h("p", { class: "hl-note" }, found.steps ? `Tuned for ${found.steps} steps at rate ${short(found.rate)}: ${found.before} of ${found.of} examples were right before, ${found.after} are now. Only this task's own vector moved.` : "No number of steps was better than none on examples that were held out, so the task stays as its description says.") : null] : null);
    untune.hidden = !found.done || !found.steps;
    root.dataset.tuned = found.done ? String(found.steps) : "";
  }

  const name = h("input", { type: "text", "aria-label": "name of the described task", placeholder: "name of the new task", size: 18, onkeydown: (event) => { event.stopPropagation(); if (event.key === "Enter") keepIt(); } });
  const keepIt = () => { send({ keep: name.value.trim() }); };
  const keep = h("button", { class: "hl-main", onclick: keepIt }, "Keep as a task"), kept = h("ul", { class: "hl-legend" });
  function drawKept() {
    clear(kept, model.get("kept").map((one) => h("li", {}, h("span", { title: one.description }, `${one.name}${one.tuned ? ", tuned" : ""}`), h("button", { class: "hl-live", "aria-label": `take ${one.name} away`, onclick: () => kernel.ask({ forget: one.name }) }, "Take away"))));
  }
  function busy() {
    const on = working();
    tune.disabled = on; keep.disabled = on || !drafted(); name.disabled = !drafted();
  }

  const nearBox = section("Tasks that it resembles", plane, legend, near, h("p", { class: "hl-note" }, "Numbers are cosines of task vectors; 1 is the same task, 0 no relation."));
  const keepBox = section("Keep it", h("div", { class: "hl-row hl-live" }, name, keep), h("p", { class: "hl-note" }, "A kept task is in mixer, inspector and map; here it can be taken away again."), kept);
  keepBox.classList.add("hl-live");  // nobody keeps anything on a saved page
  clear(body,
    presets,
    h("div", { class: "hl-columns" },
      h("div", { class: "hl-stack" }, section("What the task asks", description, h("div", { class: "hl-row hl-live", style: "margin-top:6px" }, write)), section("A text of your own", text, answers),
        section("Examples, if you have some (up to 16)", lines, h("div", { class: "hl-row hl-live", style: "margin-top:6px" }, tune, untune, h("button", { onclick: () => picker.click() }, "From a file (csv, tsv, jsonl)"), picker), trials, judged)),
      h("div", { class: "hl-stack" }, nearBox,
        h("div", {}, h("div", { class: "hl-row", style: "margin-bottom:4px" }, h("h4", { style: "margin:0" }, "The adapter that is written"), where), canvas, seen), keepBox)));

  const drawAbout = () => { sub.textContent = [model.get("about"), model.get("beside")].filter(Boolean).join(" "); };
  const late = (what, draw) => model.on(`change:${what}`, draw);
  late("about", drawAbout);
  late("beside", drawAbout);
  late("presets", drawPresets);
  late("description", drawPresets);
  late("plane", () => { drawPlane(); drawNear(); });
  late("near", () => { drawPlane(); drawNear(); drawAnswers(); busy(); });
  late("answers", () => { drawAnswers(); kernel.timed("answer"); });
  late("view", drawView);
  late("examples", drawExamples);
  late("tuning", drawTuning);
  late("kept", () => { name.value = ""; drawKept(); });
  late("working", busy);
  for (const draw of [drawAbout, drawPresets, drawPlane, drawNear, drawAnswers, drawView, drawExamples, drawTuning, drawKept, busy]) draw();
  requestAnimationFrame(drawView);
}
export default { render };
