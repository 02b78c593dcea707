// A model for sentences learns one's own labels, by adapters of low rank that go home to Python (PEFT).
//
// A label is a word, and a text has the label whose vector is nearest to its own. That is a guess before anything is learnt; then the texts
// of the examples move to their labels, and others like them follow.

import { Linear, Pooling } from "heed/layers";
import { loadModel } from "heed/models";
import { AdamW, crossEntropy, lora, train, warmupCosine } from "heed/train";

const byId = (id) => document.getElementById(id);
const [files, status, examples, learn, progress] = ["files", "status", "examples", "learn", "progress"].map(byId);
const [text, found, saved] = ["text", "found", "saved"].map(byId);
const STEPS = progress.max;
let lm, labels, names, adapters;

const linesOf = () => [...examples.value.matchAll(/^(.+?): (.+)$/gm)].map(([, label, text]) => ({ label, text }));

async function load() {
  const onProgress = ({ loaded }) => (status.value = `${(loaded / 1e6).toFixed(0)} MB …`);
  lm = await loadModel(files.files, { onProgress });
  names = [...new Set(linesOf().map(({ label }) => label))];
  const { data, shape } = await lm.embed(names);
  // Its logits are how near a vector is to that of each label. It does not learn.
  labels = new Linear({ inFeatures: shape[1], outFeatures: names.length, bias: false });
  labels.load({ weight: { data: data.map((x) => 4 * x), shape } }).freeze(["weight"]);
  learn.disabled = false;
  status.value = "ready";
  await show();
}

async function teach() {
  learn.disabled = true;
  adapters ??= lora(lm.model, { rank: 4, alpha: 8, targets: ["q_proj", "v_proj"] });
  const all = linesOf();
  const tokens = all.map(({ text }) => [...lm.tokenizer.encode(text).ids]);
  const pooling = new Pooling({ kind: "mean" });
  await train(lm.model, {
    optimizer: new AdamW(lm.model),
    steps: STEPS,
    batch: () => tokens,
    loss: async (model, tokens, pass) => {
      const { hidden } = await model.forward(tokens, { pass });
      const logits = await labels.forward(await pooling.forward(hidden, { pass }), { pass });
      return crossEntropy(
        logits,
        all.map(({ label }) => names.indexOf(label)),
        { pass },
      );
    },
    schedule: (step) => warmupCosine(step, { peak: 2e-3, warmup: 4, total: STEPS }),
    onStep: ({ step, loss }) => {
      progress.value = step + 1;
      status.value = `loss ${loss.toFixed(3)}`;
    },
  });
  saved.replaceChildren("For Python: ", ...[...(await lm.save({ adapter: adapters }))].flatMap(linkOf));
  learn.disabled = false;
  await show();
}

/** A file to take home. */
function linkOf([name, bytes]) {
  const href = URL.createObjectURL(new Blob([bytes]));
  return [Object.assign(document.createElement("a"), { href, download: name, textContent: name }), " "];
}

/** How near a text is to each label. */
async function show() {
  if (lm === undefined || text.value === "") return;
  const logits = await labels.forward(await lm.embed(text.value));
  const order = [...names.keys()].sort((a, b) => logits.data[b] - logits.data[a]);
  found.replaceChildren(
    ...order.map((at) => {
      const score = logits.data[at] / 4;
      const meter = Object.assign(document.createElement("meter"), { value: score, ariaLabel: score.toFixed(2) });
      const item = document.createElement("li");
      item.append(meter, names[at]);
      return item;
    }),
  );
}

const reporting = (work) => work.catch((error) => (status.value = error.message));
files.addEventListener("change", () => reporting(load()));
learn.addEventListener("click", () => reporting(teach()));
text.addEventListener("input", () => reporting(show()));
