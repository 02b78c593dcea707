// The elements of heed/viz, found in a document, made, listened to, and in JSX.
import { define, type HeedElements, type HeedFlow, type HeedMatrix } from "heed/viz";

define();
const weights = { data: new Float32Array(4), shape: [2, 2] };
const matrix: HeedMatrix = document.createElement("heed-matrix");
matrix.weights = weights;
matrix.addEventListener("select", ({ detail }) => detail.row + detail.col + detail.value);
matrix.addEventListener("edit", ({ detail }) => detail.values.length, { once: true });
matrix.addEventListener("pointerdown", (event) => event.pointerId);
matrix.addEventListener("leave", () => undefined);
// @ts-expect-error a selection has no word
matrix.addEventListener("select", ({ detail }) => detail.word);

const flow: HeedFlow | null = document.querySelector("heed-flow");
const listen = ({ detail }: CustomEvent<{ readonly word: number }>): number => detail.word;
flow?.addEventListener("inspect", listen);
flow?.removeEventListener("inspect", listen);
for (const heads of document.querySelectorAll("heed-heads")) {
  heads.addEventListener("select", ({ detail }) => detail.head);
  heads.selected = 1;
}
// @ts-expect-error words are no numbers
if (flow !== null) flow.words = [1];

export const page = [
  <heed-matrix id="m" label="weights" tone="share" weights={weights} onselect={({ detail }) => detail.row} />,
  <heed-heads weights={weights} selected={0} data-kept="yes" />,
  <heed-flow words={["a", "b"]} weights={weights} oninspect={({ detail }) => detail.word} key={1} />,
];
// @ts-expect-error there is no such tone
export const loud = <heed-matrix tone="loud" />;
// @ts-expect-error a misspelt property
export const misspelt = <heed-flow wieghts={weights} />;

/** As a framework takes them that has a namespace of its own. */
export const taken: HeedElements["heed-flow"] = { words: ["a"], asker: 0 };
