// The line above a dashboard: which model, what is known about it, and a report to take away.
function render({ model, el }) {
  const { root, body, sub, line: kernel } = panel(model, el, "header", "hyperlab", "");
  receiveFiles(model);
  function draw() {
    const choices = model.get("choices");
    sub.textContent = model.get("about");
    const dark = h("button", { class: "hl-live", "aria-label": "report as one HTML file", onclick: () => kernel.ask({ report: true }) }, "Report (HTML)");
    clear(body, h("div", { class: "hl-row", style: "margin:0" }, choices.length > 1 ? choice("model", choices, model.get("chosen"), (v) => kernel.ask({ choose: v })) : h("span", {}, choices[0]?.[1] ?? ""), h("span", { style: "flex:1" }), choices.length ? dark : null));
  }
  model.on("change:about", draw);
  model.on("change:choices", draw);
  draw();
}
export default { render };
