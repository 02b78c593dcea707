// How far work is that begins by itself, how it ended, and a button that stops it.

import { button, h } from "../../src/ui/dom.js";

export function statusLine(stop: () => void) {
  const said = h("p", { class: "small-label", role: "status" });
  const stopping = button("Stop", stop, "link");
  stopping.hidden = true;
  const show = (text: string, isRunning: boolean): void => {
    said.textContent = text;
    stopping.hidden = !isRunning;
  };
  return {
    element: h("div", { class: "race" }, stopping, said),
    say: (text: string) => show(text, true),
    end: (text: string) => show(text, false),
  };
}
