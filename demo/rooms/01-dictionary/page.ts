// Room 1, soft dictionary: drawers that open by how well they fit, from exact lookup to plain average.

import { at, bestOf, rowsOf, rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { boundChoice, boundSlider, choice, slider } from "../../src/ui/controls.js";
import { button, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, row, sup } from "../../src/ui/math.js";
import { byChoice, type EditNamed, told, worded } from "../../src/ui/named-matrices.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { cabinet } from "./cabinet.js";
import { heedCode, torchCode } from "./code.js";
import { CABINETS, EXAMPLES, type Role } from "./examples.js";
import { curveView, drawersOf, MATRICES, type MatrixName, matricesOf } from "./matrices.js";
import { callsOf, type DictionaryAnswer, type DictionaryScene, GRID, readAnswers, sceneOf } from "./scene.js";
import { asGiven, BANDWIDTHS, DICTIONARY_STATE, matrixOf, TEMPERATURES } from "./state.js";
import {
  answerParts,
  cabinetText,
  curveText,
  NUMBERS_TEXT,
  questionText,
  tasteText,
  temperatureName,
} from "./texts.js";
import "../../style/dictionary.css";

/** Which of the state a matrix shows, where it can be changed. */
const ROLES: Readonly<Partial<Record<string, Role>>> = { Q: "q", K: "k", V: "v" };

const store = new Store(DICTIONARY_STATE, ["example"]);

function dictionaryRoom(room: RoomContext<DictionaryScene, DictionaryAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices } = room;
  const edit: EditNamed<string> = (name, atRow, col, values) => {
    const role = ROLES[name];
    if (role !== undefined) store.change({ [role]: withBlock(matrixOf(store.state, role), atRow, col, values) });
  };
  const ask = (...card: readonly number[]): void => edit("Q", store.state.asker, 0, [card]);
  const drawers = cabinet((key) => ask(...(rowsOf(room.scene.k)[key] ?? [])));
  const chart = new HeedChart();
  chart.choose = (index) => ask(Number((GRID[index] ?? 0).toFixed(2)));

  const titles = EXAMPLES.map((value) => ({ value, text: CABINETS[value].title }));
  const example = choice("Cabinet", titles, (value) => store.change(asGiven(value), "new"));
  const scores = { dot: "dot product", cosine: "cosine", rbf: "distance (rbf)" };
  const grades = { least: 1.5, most: 4.5, step: 0.05 };
  const grade = slider("Ask for a GPA of", grades, (value) => ask(Number(value.toFixed(2))));
  const people = CABINETS.movies.queries.map((text, index) => ({ value: String(index), text }));
  const who = choice("Query of", people, (value) => store.change({ asker: Number(value) }));
  const again = button("Reset", () => {
    store.hold(undefined);
    store.change(asGiven(store.state.example), "new");
  });

  const [asked, said] = [h("p", { class: "small-label" }), h("p", { class: "answer" })];
  const tasteLines = h("tbody");
  const tasteTable = h("table", { class: "plain-table tastes" }, heads("", "by dot product", "by cosine"), tasteLines);
  const data = () => {
    const { state, example } = room.scene;
    return { state, askers: example.queries, drawers: example.keys, ...rowsOfAll(matricesOf(room.scene, room.answer)) };
  };
  const pictures = {
    cabinet: picture({
      name: "cabinet",
      title: "Every drawer opens a little",
      body: [drawers.element, asked, said],
      controls: [
        boundSlider(store, "temperature", "Temperature T", TEMPERATURES, { said: temperatureName }),
        grade.element,
        who.element,
      ],
      more: [
        boundChoice(store, "score", "Alike by", scores),
        boundSlider(store, "bandwidth", "Bandwidth b", BANDWIDTHS, { isThere: ({ score }) => score === "rbf" }),
        again,
      ],
      data,
      aside: formula(
        "o = ∑ a_j v_j",
        plain(",  "),
        "a_j =",
        fraction(sup("e", "s_j / T"), row("∑", sup("e", "s_l / T"))),
      ),
    }),
    curve: picture({
      name: "curve",
      title: "A salary for every grade",
      body: [chart],
      data: () => ({
        state: room.scene.state,
        grades: GRID,
        estimates: Array.from(room.scene.curve?.output.data ?? []),
      }),
    }),
    tastes: picture({
      name: "tastes",
      title: "Dot product against cosine",
      body: [tableFrame("Best movie of each", tasteTable)],
      data: () => {
        const { dot, cosine } = room.scene.rivals;
        return { state: room.scene.state, dot: rowsOf(dot.weights), cosine: rowsOf(cosine.weights) };
      },
    }),
    numbers: picture({
      name: "numbers",
      title: "The same as numbers",
      body: [matrices.line("Q", "K"), matrices.line("S", "A"), matrices.line("V", "O")],
      data,
    }),
  };

  const show = (): void => {
    const { scene, answer } = room;
    const { state } = scene;
    example.show(state.example);
    grade.element.hidden = state.example !== "salary";
    const wanted = matrixOf(state, "q").data[0] ?? 0;
    grade.show(wanted, exact(wanted, 2));
    who.element.hidden = scene.example.queries.length === 1;
    who.show(String(state.asker));
    drawers.show(drawersOf(scene, answer));
    asked.textContent = questionText(scene);
    said.replaceChildren(...answerParts(scene, answer));
    const curve = curveView(scene, answer);
    if (curve !== undefined) chart.show(curve);
    pictures.curve.element.hidden = curve === undefined;
    pictures.tastes.element.hidden = state.example !== "movies";
    tasteLines.replaceChildren(...tasteRows(scene));
    matrices.showAll(matricesOf(scene, answer));
    pictures.cabinet.say(cabinetText(scene));
    pictures.curve.say(curveText(scene));
    pictures.tastes.say(tasteText(scene));
    pictures.numbers.say(matrices.isTurned ? worded(NUMBERS_TEXT) : NUMBERS_TEXT);
  };
  return {
    above: [example],
    menu: [byChoice(store, "vector")],
    guess: guess("dictionary", GUESSES.dictionary, () => store.change({ temperature: 0 }, "new")),
    pictures: Object.values(pictures),
    first: () => ({ name: "A", row: store.state.asker, col: bestOf(room.scene.weights, store.state.asker) }),
    explain: (spot) => told(matricesOf(room.scene, room.answer)[spot.name], spot),
    edit,
    show,
  };
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

tellingRoom({
  store,
  sceneOf,
  kernel: { callsOf, read: readAnswers, said: (answer) => agreed("Attention weights and answers", answer?.apart) },
  code: { heed: heedCode, torch: torchCode },
  matrices: MATRICES,
  build: dictionaryRoom,
});
