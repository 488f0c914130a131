/**
 * Pictures and data as files: a picture as it is without a script, with its colours.
 *
 *   savePicture(svg, "by-hour-events-heat", "svg")    or "png"
 *   saveData(results)                                 report.json
 */

import { svgElement } from "../kit/dom.js";

export function saveData(data) {
  save(new Blob([JSON.stringify(data)], { type: "application/json" }), "report.json");
}

export function savePicture(svg, name, kind) {
  const css = document.getElementById("chart-style").textContent;
  if (kind === "png") return savePng(svg, css, `${name}.png`);
  save(new Blob([standalone(svg, css)], { type: "image/svg+xml" }), `${name}.svg`);
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function standalone(svg, css) {
  const copy = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(
    svgElement("style", {}, css),
    svgElement("rect", { class: "surface", width: "100%", height: "100%" }),
  );
  return new XMLSerializer().serializeToString(copy);
}

/** Draws with the browser's own painter, in light. */
function savePng(svg, css, name) {
  const { width, height } = svg.viewBox.baseVal, image = new Image();
  const light = css.replace("(prefers-color-scheme: dark)", "not all");
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg, light));
}
