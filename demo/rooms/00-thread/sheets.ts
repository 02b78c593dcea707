// On paper every stop is a sheet: its text with a picture to fill in, and the same picture with its figures and the answers on the back.

import { h } from "../../src/ui/dom.js";
import { LAID_OUT } from "../../src/ui/pieces.js";
import { GUESSES, SKETCHES } from "./guesses.js";
import { emptySketch, sceneOf } from "./scene.js";
import { stageOf } from "./stage.js";
import { STOPS, type Stop, type ThreadState } from "./state.js";

/** They are made when somebody prints, with what was set at each stop. */
export function startPrint(stops: readonly HTMLElement[], state: () => ThreadState): void {
  const sheets = h("div", { class: "sheets" });
  const show = (isPrinted: boolean): void => {
    sheets.replaceChildren(...(isPrinted ? STOPS.flatMap((stop, index) => sheet(stop, stops[index], state())) : []));
    for (const board of sheets.querySelectorAll(".board")) board.dispatchEvent(new Event(LAID_OUT));
  };
  document.querySelector("main")?.append(sheets);
  const print = matchMedia("print");
  print.addEventListener("change", () => show(print.matches));
  show(print.matches);
}

function sheet(stop: Stop, section: HTMLElement | undefined, state: ThreadState): HTMLElement[] {
  const isDrawn = stop === "scale" || stop === "mask";
  const { ask, why, shows } = isDrawn ? SKETCHES[stop] : GUESSES[stop];
  const { answers, right } = isDrawn ? { answers: [], right: 0 } : GUESSES[stop];
  const pictures = [stageOf(), stageOf()] as const;
  const sketch = isDrawn ? emptySketch(stop) : undefined;
  pictures[0].show(sceneOf(state, stop, sketch));
  pictures[1].show(sceneOf(isDrawn ? { ...state, ...shows } : state, stop, sketch));
  const [title, text, question] = ["h2", "p", ".thread-question"].map((part) => section?.querySelector(part));
  const name = title?.textContent ?? "";
  const front = [
    h("h2", {}, name),
    ...(text ? [text.cloneNode(true)] : []),
    h("p", {}, h("b", {}, ask), ` ${answers.join(" / ")}`),
    pictures[0].element,
    h("p", { class: "thread-question" }, question?.textContent ?? ""),
  ];
  const back = [
    h("h2", {}, `${name}: answers`),
    h("p", {}, h("b", {}, `${ask} `), ...(isDrawn ? [] : [`${answers[right]}. `]), why),
    pictures[1].element,
  ];
  return [h("section", { class: `sheet to-fill ${stop}` }, ...front), h("section", { class: "sheet" }, ...back)];
}
