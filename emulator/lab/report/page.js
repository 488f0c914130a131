(() => {
"use strict";
const root = document.documentElement;
root.classList.add("js");
const text = document.getElementById("data").textContent;
const data = JSON.parse(text);
const tip = document.createElement("div");
tip.id = "tip";
document.body.append(tip);

const short = (n) => n === 0 ? "0" : Math.abs(n) >= 1e6 ? (n / 1e6).toPrecision(3) + " M"
  : Math.abs(n) >= 1000 ? Math.round(n).toLocaleString("en") : String(+n.toPrecision(3));
const percent = (n) => short(n * 100) + " %";
const clock = (s) => {
  const p = (n) => String(n).padStart(2, "0");
  s = Math.round(s);
  return `${Math.floor(s / 3600)}:${p(Math.floor(s / 60) % 60)}:${p(s % 60)}`;
};

function heatText(resource, meta, column, share) {
  const heat = resource.heat, rows = meta.dataset.rows.split(",").map((r) => r.split(":").map(Number));
  const all = Math.max(...rows.map(([first, height]) => first + height));
  const drawn = Math.min(all, meta.dataset.drawn), band = Math.floor(share * drawn);
  let best = null;
  heat.partitions.forEach((one, i) => {
    const first = Math.floor(rows[i][0] * drawn / all);
    const last = Math.floor((rows[i][0] + rows[i][1] - 1) * drawn / all);
    const load = heat.load[column][i];
    if (load === null || band < first || band > last) return;
    const refused = heat.throttled[column][i] || 0;
    if (!best || load + refused > best.sum) best = {one, load, refused, sum: load + refused};
  });
  if (!best) return null;
  const lines = [`${clock(column * heat.step_seconds)}  partition ${best.one.partition_id}`,
    `load ${percent(best.load)} of what one carries`];
  if (best.refused > 0) lines.push(`refused: ${percent(best.refused)} more`);
  return lines.join("\n");
}

function seriesText(resource, meta, index) {
  const s = resource[meta.dataset.axis].fine;
  const lines = [`${clock(index * s.step_seconds)}`, `consumed ${short(s.consumed[index])}/s`];
  if (s.throttled[index] > 0) lines.push(`throttled ${short(s.throttled[index])}/s`);
  lines.push(`available ${short(s.provisioned[index])}/s`, `burst reserve ${short(s.burst[index])}`);
  return lines.join("\n");
}

for (const meta of document.querySelectorAll("metadata[data-kind]")) {
  const svg = meta.ownerSVGElement, figure = svg.closest("figure");
  const resource = data.designs[figure.dataset.design].resources[figure.dataset.resource];
  const [left, top, right, bottom] = meta.dataset.box.split(",").map(Number);
  const isHeat = meta.dataset.kind === "heat";
  const steps = isHeat ? resource.heat.load.length : resource[meta.dataset.axis].fine.consumed.length;
  const cross = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cross.setAttribute("class", "cross");
  const hide = () => { tip.style.display = "none"; cross.remove(); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    if (x < left || x >= right || y < top || y >= bottom) return hide();
    const step = Math.min(steps - 1, Math.floor((x - left) / (right - left) * steps));
    const shown = isHeat ? heatText(resource, meta, step, (y - top) / (bottom - top))
      : seriesText(resource, meta, step);
    if (shown === null) return hide();
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", top], ["y2", bottom]]) {
      cross.setAttribute(name, value);
    }
    svg.append(cross);
    tip.textContent = shown;
    tip.style.display = "block";
    tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  });
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function standalone(svg, css) {
  const copy = svg.cloneNode(true), {width, height} = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  for (const extra of copy.querySelectorAll("metadata,.cross")) extra.remove();
  const ns = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const style = ns("style"), back = ns("rect");
  style.textContent = css;
  for (const [name, value] of [["class", "surface"], ["width", "100%"], ["height", "100%"]]) {
    back.setAttribute(name, value);
  }
  copy.prepend(style, back);
  return new XMLSerializer().serializeToString(copy);
}

function savePng(svg, css, name) {
  const {width, height} = svg.viewBox.baseVal, image = new Image();
  const light = css.replace("(prefers-color-scheme:dark)", "not all");
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg, light));
}

document.addEventListener("click", (event) => {
  const kind = event.target.dataset && event.target.dataset.save;
  if (!kind) return;
  const css = document.getElementById("chart-style").textContent;
  if (kind === "json") return save(new Blob([text], {type: "application/json"}), "report.json");
  const figure = event.target.closest("figure"), svg = figure.querySelector("svg");
  if (kind === "png") return savePng(svg, css, figure.id + ".png");
  save(new Blob([standalone(svg, css)], {type: "image/svg+xml"}), figure.id + ".svg");
});
})();
