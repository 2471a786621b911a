// The line above a dashboard: which model, what is known about it, and a report to take away.
function render({ model, el }) {
  const { body, sub, root, line: kernel } = panel(model, el, "header", "hyperlab", "");
  receiveFiles(model);
  root.querySelector("h3").hidden = true;
  sub.hidden = true;
  function draw() {
    const choices = model.get("choices");
    const report = h("button", { class: "hl-live", "aria-label": "report as one HTML file", onclick: () => kernel.ask({ report: true }) }, "Report (HTML)");
    const which = choices.length > 1 ? choice("model", choices, model.get("chosen"), (v) => kernel.ask({ choose: v })) : h("span", {}, choices[0]?.[1] ?? "");
    clear(body, h("div", { class: "hl-row", style: "margin:0" }, h("h3", { style: "margin:0 6px 0 0" }, "hyperlab"), which,
      h("span", { style: "color:var(--hl-soft);flex:1 1 200px" }, model.get("about")), choices.length ? report : null));
  }
  model.on("change:about", draw);
  model.on("change:choices", draw);
  draw();
}
export default { render };
