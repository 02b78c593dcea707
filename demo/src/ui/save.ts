// Hands a picture or its numbers to the reader as a file. A picture is one SVG that stands alone: boxes, text and drawings with the colours
// that they have on the screen.

import { colourOf } from "./colour.js";
import { h, setAttributes, svg } from "./dom.js";

const PIXELS_PER_POINT = 2;
const MARGIN = 16;
const SVG_STYLES = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity"],
  ...["fill-opacity", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline"],
];

export function saveSvg(name: string, picture: HTMLElement): void {
  saveBlob(`${name}.svg`, new Blob([textOf(picture)], { type: "image/svg+xml" }));
}

export async function savePng(name: string, picture: HTMLElement): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(picture))}`;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight].map((side) => side * PIXELS_PER_POINT);
  const canvas = h("canvas", { width, height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, "image/png");
  });
  if (blob === null) throw new Error(`a picture of ${canvas.width} × ${canvas.height} pixels is too large here`);
  saveBlob(`${name}.png`, blob);
}

/** Infinity and NaN, which JSON lacks, become words, and typed arrays lists. */
export function saveJson(name: string, data: unknown): void {
  const plain = (_key: string, value: unknown): unknown =>
    ArrayBuffer.isView(value)
      ? Array.from(value as Float64Array)
      : typeof value === "number" && !Number.isFinite(value)
        ? String(value)
        : value;
  const text = JSON.stringify(data, plain, 1);
  saveBlob(`${name}.json`, new Blob([`${text}\n`], { type: "application/json" }));
}

export function saveBlob(name: string, blob: Blob): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

interface Pen {
  readonly into: SVGSVGElement;
  /** The picture's own top left corner, in the coordinates of the window. */
  readonly left: number;
  readonly top: number;
  right: number;
  bottom: number;
}

/** What works the picture is hidden meanwhile, and the rest moves together: no gap is left where it stood. */
function textOf(picture: HTMLElement): string {
  picture.classList.add("drawing");
  try {
    return new XMLSerializer().serializeToString(draw(picture));
  } finally {
    picture.classList.remove("drawing");
  }
}

function draw(root: HTMLElement): SVGSVGElement {
  const box = root.getBoundingClientRect();
  const into = svg("svg", { xmlns: "http://www.w3.org/2000/svg" });
  const pen: Pen = { into, left: box.left - MARGIN, top: box.top - MARGIN, right: box.right, bottom: box.bottom };
  const ground = svg("rect", { fill: hex(getComputedStyle(document.body).backgroundColor) });
  into.append(ground);
  drawElement(root, pen);
  const [width, height] = [Math.ceil(pen.right - pen.left + MARGIN), Math.ceil(pen.bottom - pen.top + MARGIN)];
  setAttributes(ground, { width, height });
  setAttributes(into, { width, height, viewBox: `0 0 ${width} ${height}` });
  return into;
}

function drawElement(element: Element, pen: Pen): void {
  if (!element.checkVisibility({ visibilityProperty: true })) return;
  if (element instanceof SVGSVGElement) drawSvg(element, pen);
  else if (element instanceof HTMLCanvasElement) drawCanvas(element, pen);
  else {
    const style = getComputedStyle(element);
    drawBox(element, style, pen);
    for (const child of element.childNodes) {
      if (child instanceof Element) drawElement(child, pen);
      else if (child instanceof Text && element instanceof HTMLElement) drawText(child, element, style, pen);
    }
  }
}

function drawBox(element: Element, style: CSSStyleDeclaration, pen: Pen): void {
  const box = element.getBoundingClientRect();
  const fill = hex(style.backgroundColor);
  const hatched = style.backgroundImage.includes("repeating-linear-gradient");
  if (box.width === 0 || (fill === "none" && !hatched)) return;
  const place = placed(box, pen);
  const { x, y, width, height } = place;
  pen.into.append(svg("rect", { ...place, rx: Number.parseFloat(style.borderTopLeftRadius) || 0, fill }));
  if (!hatched) return;
  const stroke = hex(style.color);
  const line = { x1: x, y1: y + height, x2: x + width, y2: y, stroke, "stroke-width": 0.5, opacity: 0.6 };
  pen.into.append(svg("line", line));
}

function drawText(text: Text, parent: HTMLElement, style: CSSStyleDeclaration, pen: Pen): void {
  const size = Number.parseFloat(style.fontSize);
  if (size < 1 || text.data.trim() === "") return;
  const look = {
    fill: hex(style.color),
    "font-size": size,
    "font-family": style.fontFamily,
    "font-weight": style.fontWeight,
    "font-style": style.fontStyle,
    "dominant-baseline": "central",
  };
  const upright = style.writingMode === "horizontal-tb";
  for (const { words, box } of linesOf(text)) {
    const shown = cut(words, parent, upright);
    const { x, y, width, height } = placed(box, pen);
    const place = upright
      ? { x, y: y + height / 2 }
      : { transform: `translate(${x + width / 2} ${y + height}) rotate(-90)` };
    pen.into.append(svg("text", { ...look, ...place }, shown));
  }
}

/** Words beside each other, with the box around them. */
function linesOf(text: Text): { readonly words: string; readonly box: DOMRect }[] {
  const lines: { words: string; box: DOMRect }[] = [];
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    const last = lines.at(-1);
    if (last !== undefined && Math.abs(last.box.top - box.top) < 2) {
      last.words += ` ${word}`;
      last.box = new DOMRect(last.box.left, last.box.top, box.right - last.box.left, last.box.height);
    } else {
      lines.push({ words: word, box });
    }
  }
  return lines;
}

/** Cuts text where it is too long, as the page does. */
function cut(words: string, parent: HTMLElement, upright: boolean): string {
  const [room, length] = upright
    ? [parent.clientWidth, parent.scrollWidth]
    : [parent.clientHeight, parent.scrollHeight];
  if (room === 0 || length <= room + 1) return words;
  return `${words.slice(0, Math.max(1, Math.floor((words.length * room) / length) - 1))}…`;
}

function drawSvg(element: SVGSVGElement, pen: Pen): void {
  const copy = element.cloneNode(true);
  if (!(copy instanceof SVGSVGElement)) return;
  const originals = element.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((part, index) => {
    const original = originals[index];
    if (original === undefined) return;
    const style = getComputedStyle(original);
    for (const name of SVG_STYLES) {
      const value = style.getPropertyValue(name);
      part.setAttribute(name, name === "fill" || name === "stroke" ? hex(value) : value);
    }
    part.removeAttribute("class");
  });
  copy.removeAttribute("class");
  setAttributes(copy, placed(element.getBoundingClientRect(), pen));
  pen.into.append(copy);
}

function drawCanvas(element: HTMLCanvasElement, pen: Pen): void {
  const place = placed(element.getBoundingClientRect(), pen);
  pen.into.append(svg("image", { href: element.toDataURL(), ...place, "image-rendering": "pixelated" }));
}

/** In the picture's own coordinates, which grow to hold it. */
function placed(box: DOMRect, pen: Pen) {
  pen.right = Math.max(pen.right, box.right);
  pen.bottom = Math.max(pen.bottom, box.bottom);
  return { x: box.left - pen.left, y: box.top - pen.top, width: box.width, height: box.height };
}

const known = new Map<string, string>();

/** Any CSS colour as "#rrggbb", which every program that reads SVG knows; "none" for a transparent one. */
function hex(colour: string): string {
  const before = known.get(colour);
  if (before !== undefined) return before;
  if (colour === "none" || colour.startsWith("url(")) return "none";
  const [red, green, blue, alpha] = colourOf(colour);
  const digits = [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
  const found = alpha === 0 ? "none" : `#${digits}`;
  known.set(colour, found);
  return found;
}
