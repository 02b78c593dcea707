// Room 1, soft dictionary: drawers that open by how well they fit, from exact lookup to plain average.

import { at, bestOf, rowsOf, rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import type { Room } from "../../src/page/run-room.js";
import { h } from "../../src/ui/dom.js";
import { HeedCabinet } from "../../src/ui/heed-cabinet.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, row, sub, sup } from "../../src/ui/math.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { worded } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import { Teller } from "../../src/ui/teller.js";
import type { DictionaryAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain, MATRICES, ROLES } from "./explain.js";
import { type DictionaryScene, GRID } from "./scene.js";
import { type DictionaryStore, matrixOf } from "./state.js";
import { answerParts, cabinetText, curveText, NUMBERS_TEXT, tasteText } from "./texts.js";
import { curveView, drawersOf, viewsOf } from "./views.js";

export function dictionaryRoom(
  store: DictionaryStore,
  root: HTMLElement,
  first: DictionaryScene,
): Room<DictionaryScene, DictionaryAnswer> {
  let scene = first;
  let answer: DictionaryAnswer | undefined;
  const isTurned = (): boolean => store.state.by === "columns";
  const matrices = new NamedMatrices(MATRICES, isTurned);
  const edit = (name: string, atRow: number, col: number, values: readonly (readonly number[])[]): void => {
    const known = EDITABLE.find((one) => one === name);
    if (known === undefined) return;
    const role = ROLES[known];
    store.change({ [role]: withBlock(matrixOf(store.state, role), atRow, col, values) });
  };
  const teller = new Teller({
    keeper: () => store,
    first: () => ({ name: "A", row: scene.state.asker, col: bestOf(scene.weights, scene.state.asker) }),
    explain: (cell) => matrices.told(cell, (spot) => explain(scene, spot, answer)),
    light: (lights) => matrices.light(lights),
    retype: ({ name, row: atRow, col }, value) => edit(name, atRow, col, [[value]]),
  });
  matrices.listen(teller, edit);
  const ask = (card: readonly number[]): void => edit("Q", store.state.asker, 0, [card]);
  const cabinet = new HeedCabinet();
  cabinet.choose = (key) => ask(rowsOf(scene.k)[key] ?? []);
  const chart = new HeedChart();
  chart.choose = (index) => ask([Number((GRID[index] ?? 0).toFixed(2))]);
  const said = h("p", { class: "answer" });
  const agreement = agreementLine();
  const tasteLines = h("tbody");
  const tasteTable = h("table", { class: "plain-table tastes" }, heads("", "by dot product", "by cosine"), tasteLines);
  const { example, menu, ...all } = controls(store);
  const data = () => {
    const { state, example } = scene;
    return { state, askers: example.queries, drawers: example.keys, ...rowsOfAll(viewsOf(scene, answer)) };
  };
  const pictures = {
    cabinet: picture({
      name: "cabinet",
      title: "Every drawer opens a little",
      body: [cabinet, said],
      ...all,
      data,
      aside: formula(
        "o",
        "=",
        row("∑", sub("a", "j"), sub("v", "j")),
        plain(",  "),
        sub("a", "j"),
        "=",
        fraction(sup("e", row(sub("s", "j"), "/", "T")), row("∑", sup("e", row(sub("s", "l"), "/", "T")))),
      ),
    }),
    curve: picture({
      name: "curve",
      title: "A salary for every grade",
      body: [chart],
      data: () => ({
        state: scene.state,
        grades: GRID,
        estimates: Array.from((answer?.curve ?? scene.curve?.output)?.data ?? []),
      }),
    }),
    tastes: picture({
      name: "tastes",
      title: "Dot product against cosine",
      body: [tableFrame("Best movie of each", tasteTable)],
      data: () => {
        const { dot, cosine } = scene.rivals;
        return { state: scene.state, dot: rowsOf(dot.weights), cosine: rowsOf(cosine.weights) };
      },
    }),
    numbers: picture({
      name: "numbers",
      title: "The same as numbers",
      body: [matrices.line("Q", "K"), matrices.line("S", "A"), matrices.line("V", "O")],
      data,
    }),
  };
  furnish(root, {
    above: [example],
    menu,
    pictures: Object.values(pictures).map(({ element }) => element),
    readout: teller.element,
    agreement,
    heedCode: () => heedCode(scene),
    torchCode: () => torchCode(scene),
  });

  const show = (next: DictionaryScene, answered: DictionaryAnswer | undefined): void => {
    [scene, answer] = [next, answered];
    all.show();
    cabinet.show(drawersOf(scene, answer));
    said.replaceChildren(
      ...answerParts(scene, answer).map((part) => (typeof part === "string" ? part : h("b", {}, part.b))),
    );
    const curve = curveView(scene, answer);
    if (curve !== undefined) chart.show(curve);
    pictures.curve.element.hidden = curve === undefined;
    pictures.tastes.element.hidden = scene.state.example !== "movies";
    tasteLines.replaceChildren(...tasteRows(scene));
    matrices.showAll(viewsOf(scene, answer));
    pictures.cabinet.say(cabinetText(scene));
    pictures.curve.say(curveText(scene));
    pictures.tastes.say(tasteText(scene));
    pictures.numbers.say(isTurned() ? worded(NUMBERS_TEXT) : NUMBERS_TEXT);
    agreement.textContent = agreed("Attention weights and answers", answer?.apart);
    teller.tell();
  };
  return { show };
}

const EDITABLE = ["Q", "K", "V"] as const;

function tasteRows({ rivals, example }: DictionaryScene): HTMLElement[] {
  return example.queries.map((who, row) => {
    const bests = [rivals.dot, rivals.cosine].map(({ scores }) => bestOf(scores, row));
    const texts = [rivals.dot, rivals.cosine].map(({ weights }, index) => {
      const key = bests[index] ?? 0;
      return `${example.keys[key]} ${percent(at(weights, row, key))}`;
    });
    return line(who, texts, bests[0] === bests[1] ? undefined : "differs");
  });
}
