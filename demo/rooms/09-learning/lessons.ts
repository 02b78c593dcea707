// One sentence under the causal mask: each word but the last is a lesson of its own.

import { h } from "../../src/ui/dom.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { tableFrame } from "../../src/ui/table.js";

const WORDS = ["The", "dog", "was", "tired", "and", "slept"];
const LESSONS = WORDS.slice(1).map((target, row) => ({ sees: WORDS.slice(0, row + 1), target }));

export function lessonsPicture(): Picture {
  const rows = LESSONS.map(({ target }, row) => {
    const cells = WORDS.map((word, col) => {
      const kind = col <= row ? "seen" : col === row + 1 ? "target" : "masked";
      return h("td", { class: kind }, kind === "masked" ? "·" : word);
    });
    return h("tr", {}, h("th", { scope: "row", "aria-label": `Lesson ${row + 1}: ${target}` }, `${row + 1}`), ...cells);
  });
  const table = h("table", { class: "lessons" }, h("tbody", {}, ...rows));
  const lessons = picture({
    name: "lessons",
    title: "One sentence is n lessons",
    body: [tableFrame("Each lesson: what it sees and its target", table)],
    data: () => LESSONS,
  });
  lessons.say(
    "A language model learns to say the next word. Under the causal mask, each row sees only the words before its target, so one pass over six words answers five questions at once, and each has its loss.",
  );
  return lessons;
}
