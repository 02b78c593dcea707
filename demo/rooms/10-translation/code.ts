// The network that writes what is shown, as a program: its parameters from this site, and its parts one after the other.

import { heedProgram, torchProgram } from "../../src/ui/code.js";
import { ANSWER, NAMES, readable } from "./reading.js";
import type { TranslationState } from "./state.js";

const about = ({ text, network }: TranslationState): string =>
  `“${readable(text)}” as a date by ${NAMES[network]}’s network, and what each character looks at`;
const addressOf = ({ network }: TranslationState): string =>
  new URL(`./weights/dates-${network}.safetensors`, location.href).href;

/** What the network reads and writes, as in examples/train/dates.js; the last character stands before each date. */
const [READS, WRITES] = [" abcdefghijklmnopqrstuvwxyz0123456789,", "0123456789-^"];

export function heedCode(state: TranslationState): string {
  const [layer, options] =
    state.network === "luong"
      ? ["MultiHeadAttention", "embedDim: dim, heads: 1, bias: false"]
      : ["AdditiveAttention", "queryDim: dim, keyDim: dim, hidden: dim"];
  return heedProgram(
    about(state),
    `const parameters = await loadSafetensors(${JSON.stringify(addressOf(state))});
const [reads, writes, dim] = [${JSON.stringify(READS)}, ${JSON.stringify(WRITES)}, 64];
const part = (name, Layer, options) => new Layer({ ...options, engine: heed }).load(parameters, name + ".");
const source = part("source", Embedding, { count: reads.length, dim });
const encoder = part("encoder", GRU, { inputSize: dim, hiddenSize: dim });
const target = part("target", Embedding, { count: writes.length, dim });
const decoder = part("decoder", GRU, { inputSize: dim, hiddenSize: dim });
const attention = part("attention", ${layer}, { ${options} });
const head = part("head", Linear, { inFeatures: dim, outFeatures: 11 });
const contextHead = part("contextHead", Linear, { inFeatures: dim, outFeatures: 11 });
const tokens = (text, all) => ({ data: Int32Array.from(text, (one) => all.indexOf(one)), shape: [1, text.length] });

const { output: keys, state } = await encoder.forward(await source.forward(tokens(${JSON.stringify(readable(state.text))}, reads)));
let [date, output] = ["", null];
while (date.length < ${ANSWER}) {
  const { output: queries } = await decoder.forward(await target.forward(tokens("^" + date, writes)), { state });
  const look = await attention.forward(queries, keys, undefined, { return: { output: true, weights: true } });
  const logits = await contextHead.forward(look.output, { addend: await head.forward(queries) });
  const last = Array.from(logits.data.subarray(-11));
  date += writes[last.indexOf(Math.max(...last))];
  output = look.weights;
}`,
    "date, output.shape, output.data",
    `import { ${layer}, Embedding, GRU, Linear, loadSafetensors } from "heed/layers";\n`,
  );
}

export function torchCode(state: TranslationState): string {
  const scores =
    state.network === "luong"
      ? `q, k = queries @ p["attention.q_proj.weight"].T, keys @ p["attention.k_proj.weight"].T
    weights = torch.softmax(q @ k.transpose(-2, -1) / 64**0.5, dim=-1)
    context = weights @ keys @ p["attention.v_proj.weight"].T @ p["attention.out_proj.weight"].T`
      : `q, k = queries @ p["attention.query_proj.weight"].T, keys @ p["attention.key_proj.weight"].T
    weights = torch.softmax(torch.tanh(q[:, :, None] + k[:, None]) @ p["attention.score_proj.weight"][0], dim=-1)
    context = weights @ keys`;
  return torchProgram(
    about(state),
    `from safetensors.torch import load_file

p = load_file("dates-${state.network}.safetensors")  # ${addressOf(state)}
reads, writes = ${JSON.stringify(READS)}, ${JSON.stringify(WRITES)}

def gru(name):
    made = torch.nn.GRU(64, 64, batch_first=True)
    made.load_state_dict({key.split(".")[1]: value for key, value in p.items() if key.startswith(name)})
    return made

def vectors(table, text, all):
    return p[table + ".weight"][[[all.index(one) for one in text]]]

encoder, decoder = gru("encoder."), gru("decoder.")
keys, state = encoder(vectors("source", ${JSON.stringify(readable(state.text))}, reads))
date = ""
while len(date) < ${ANSWER}:
    queries, _ = decoder(vectors("target", "^" + date, writes), state)
    ${scores}
    logits = queries @ p["head.weight"].T + p["head.bias"] + context @ p["contextHead.weight"].T + p["contextHead.bias"]
    date += writes[logits[0, -1].argmax()]`,
    "date, weights",
  );
}
