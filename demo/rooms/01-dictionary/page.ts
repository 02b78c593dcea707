// Room 1, soft dictionary: drawers that open by how well they fit, from exact lookup to plain average.

import { at, bestOf, rowsOf, rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { runRoom } from "../../src/page/run-room.js";
import { choice } from "../../src/ui/choice.js";
import { button, find, h } from "../../src/ui/dom.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, row, sub, sup } from "../../src/ui/math.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { byChoice, worded } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import { Teller } from "../../src/ui/teller.js";
import { cabinet } from "./cabinet.js";
import { heedCode, torchCode } from "./code.js";
import { CABINETS, EXAMPLES, type Role, type ScoreName } from "./examples.js";
import { explain, MATRICES } from "./explain.js";
import { callsOf, type DictionaryAnswer, type DictionaryScene, GRID, readAnswers, sceneOf } from "./scene.js";
import { asGiven, BANDWIDTHS, DICTIONARY_STATE, matrixOf, TEMPERATURES } from "./state.js";
import { answerParts, cabinetText, curveText, NUMBERS_TEXT, tasteText, temperatureName } from "./texts.js";
import { curveView, drawersOf, viewsOf } from "./views.js";
// After the frame, whose styles a room refines.
import "../../style/dictionary.css";

/** Which of the state a matrix shows, where it can be changed. */
const ROLES: Readonly<Partial<Record<string, Role>>> = { Q: "q", K: "k", V: "v" };

const store = new Store(DICTIONARY_STATE, ["example"]);
const isTurned = (): boolean => store.state.by === "columns";

function dictionaryRoom(first: DictionaryScene) {
  let scene = first;
  let answer: DictionaryAnswer | undefined;
  const matrices = new NamedMatrices(MATRICES, isTurned);
  const edit = (name: string, atRow: number, col: number, values: readonly (readonly number[])[]): void => {
    const role = ROLES[name];
    if (role !== undefined) store.change({ [role]: withBlock(matrixOf(store.state, role), atRow, col, values) });
  };
  const teller = new Teller({
    keeper: () => store,
    first: () => ({ name: "A", row: scene.state.asker, col: bestOf(scene.weights, scene.state.asker) }),
    explain: (cell) => matrices.told(cell, (spot) => explain(scene, spot, answer)),
    light: (lights) => matrices.light(lights),
    retype: ({ name, row: atRow, col }, value) => edit(name, atRow, col, [[value]]),
  });
  matrices.listen(teller, edit);
  const ask = (...card: readonly number[]): void => edit("Q", store.state.asker, 0, [card]);
  const drawers = cabinet((key) => ask(...(rowsOf(scene.k)[key] ?? [])));
  const chart = new HeedChart();
  chart.choose = (index) => ask(Number((GRID[index] ?? 0).toFixed(2)));

  const titles = EXAMPLES.map((value) => ({ value, text: CABINETS[value].title }));
  const example = choice("Cabinet", titles, (value) => store.change(asGiven(value), "new"));
  const scores = { dot: "dot product", cosine: "cosine", rbf: "distance (rbf)" };
  const score = choice<ScoreName>("Alike by", scores, (value) => store.change({ score: value }));
  const temperature = slider("Temperature T", TEMPERATURES, (value) => store.change({ temperature: value }));
  const bandwidth = slider("Bandwidth b", BANDWIDTHS, (value) => store.change({ bandwidth: value }));
  const grades = { least: 1.5, most: 4.5, step: 0.05 };
  const grade = slider("Ask for a GPA of", grades, (value) => ask(Number(value.toFixed(2))));
  const people = CABINETS.movies.queries.map((text, index) => ({ value: String(index), text }));
  const who = choice("Query of", people, (value) => store.change({ asker: Number(value) }));
  const by = byChoice("vector", (value) => store.change({ by: value }));
  const again = button("Reset", () => {
    store.hold(undefined);
    store.change(asGiven(store.state.example), "new");
  });

  const said = h("p", { class: "answer" });
  const agreement = agreementLine();
  const tasteLines = h("tbody");
  const tasteTable = h("table", { class: "plain-table tastes" }, heads("", "by dot product", "by cosine"), tasteLines);
  const data = () => {
    const { state, example } = scene;
    return { state, askers: example.queries, drawers: example.keys, ...rowsOfAll(viewsOf(scene, answer)) };
  };
  const pictures = {
    cabinet: picture({
      name: "cabinet",
      title: "Every drawer opens a little",
      body: [drawers.element, said],
      controls: [temperature.element, grade.element, who.element],
      more: [score.element, bandwidth.element, again],
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
  furnish(find("#room", HTMLElement), {
    above: [example.element],
    menu: [by.element],
    pictures: Object.values(pictures).map(({ element }) => element),
    readout: teller.element,
    agreement,
    heedCode: () => heedCode(scene),
    torchCode: () => torchCode(scene),
  });

  const show = (next: DictionaryScene, answered: DictionaryAnswer | undefined): void => {
    [scene, answer] = [next, answered];
    const { state } = scene;
    example.show(state.example);
    score.show(state.score);
    temperature.show(state.temperature, temperatureName(state.temperature));
    bandwidth.show(state.bandwidth, exact(state.bandwidth, 2));
    bandwidth.element.hidden = state.score !== "rbf";
    grade.element.hidden = state.example !== "salary";
    const asked = matrixOf(state, "q").data[0] ?? 0;
    grade.show(asked, exact(asked, 2));
    who.element.hidden = scene.example.queries.length === 1;
    who.show(String(state.asker));
    by.show(state.by);
    drawers.show(drawersOf(scene, answer));
    said.replaceChildren(...answerParts(scene, answer));
    const curve = curveView(scene, answer);
    if (curve !== undefined) chart.show(curve);
    pictures.curve.element.hidden = curve === undefined;
    pictures.tastes.element.hidden = state.example !== "movies";
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

function tasteRows({ rivals: { dot, cosine }, example }: DictionaryScene): HTMLElement[] {
  return example.queries.map((who, row) => {
    const bests = [bestOf(dot.scores, row), bestOf(cosine.scores, row)] as const;
    const said = ({ weights }: typeof dot, key: number): string =>
      `${example.keys[key]} ${percent(at(weights, row, key))}`;
    const look = bests[0] === bests[1] ? undefined : "differs";
    return line(who, [said(dot, bests[0]), said(cosine, bests[1])], look);
  });
}

runRoom({ store, sceneOf, callsOf, read: readAnswers, build: dictionaryRoom });
