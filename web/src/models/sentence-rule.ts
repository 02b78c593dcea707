// How a model's files say that a text becomes a vector: modules.json and the folders that it names, as sentence-transformers writes them.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions, isRecord } from "../base/read-values.js";
import { type DenseRule, denseRule } from "./dense.js";
import type { ModelFiles } from "./model-files.js";
import { type Json, maybeJson, maybeParsed } from "./read-json.js";

export type PoolingKind = "mean" | "last" | "cls";

export interface SentenceRule {
  /** Undefined where the files do not say. */
  readonly pooling: PoolingKind | undefined;
  readonly normalize: boolean | undefined;
  /** Layers after pooling. */
  readonly dense: readonly DenseRule[];
  /** The most tokens of a text. */
  readonly maxLength: number | undefined;
  /** What none of heed's models computes, by its name; embedding is refused with it. */
  readonly unknown: string | undefined;
}

export const NO_RULE: SentenceRule = {
  pooling: undefined,
  normalize: undefined,
  dense: [],
  maxLength: undefined,
  unknown: undefined,
};

export async function sentenceRule(
  where: string,
  files: ModelFiles,
  signal: AbortSignal | null,
): Promise<SentenceRule> {
  const modules = await maybeParsed(where, files, "modules.json", signal);
  const limits = await maybeJson(where, files, "sentence_bert_config.json", signal);
  const length = limits?.["max_seq_length"];
  const maxLength = Number.isSafeInteger(length) && Number(length) > 0 ? Number(length) : undefined;
  if (modules === null) {
    const config = await maybeJson(where, files, "1_Pooling/config.json", signal);
    return { ...NO_RULE, ...poolingOf(where, config), maxLength };
  }
  if (!Array.isArray(modules) || !modules.every(isOptions)) {
    throw new HeedError("load", `${where}: modules.json must be a list of objects, got ${showValue(modules)}`);
  }
  let rule: SentenceRule = { ...NO_RULE, normalize: false, maxLength };
  let isPooled = false;
  for (const { type, path } of modules) {
    const kind = typeof type === "string" ? type.split(".").at(-1) : undefined;
    const folderOr = (absent: string): string => (typeof path === "string" && /^[\w-]+$/.test(path) ? path : absent);
    if (kind === "Normalize") rule = { ...rule, normalize: true };
    else if (kind === "Pooling" && !isPooled) {
      isPooled = true;
      const config = await maybeJson(where, files, `${folderOr("1_Pooling")}/config.json`, signal);
      rule = { ...rule, ...poolingOf(where, config) };
    } else if (kind === "Dense" && isPooled && rule.normalize === false) {
      rule = { ...rule, dense: [...rule.dense, await denseRule(where, files, folderOr("2_Dense"), signal)] };
    } else if (kind !== "Transformer") rule = { ...rule, unknown: rule.unknown ?? `a module ${showValue(type)} there` };
  }
  return rule;
}

const MODES: Readonly<Record<string, PoolingKind>> = {
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_lasttoken: "last",
};

/** Newer files have one name of a mode, or several; older ones a flag for each. */
function poolingOf(where: string, config: Json | null): Pick<SentenceRule, "pooling" | "unknown"> {
  if (config === null) return { pooling: undefined, unknown: undefined };
  const { pooling_mode: mode } = config;
  const named = [mode ?? []]
    .flat()
    .map((name) =>
      `pooling_mode_${name}_tokens`.replace(/(cls|lasttoken)_tokens$/, (_, kind) =>
        kind === "cls" ? "cls_token" : kind,
      ),
    );
  const flags = Object.entries(config).filter(([name, value]) => name.startsWith("pooling_mode_") && value === true);
  const modes = mode === undefined ? flags.map(([name]) => name) : named;
  const [first, other] = modes;
  const pooling = first === undefined || other !== undefined ? undefined : MODES[first];
  if (pooling !== undefined) return { pooling, unknown: undefined };
  if (!isRecord(config) || first === undefined) {
    throw new HeedError("load", `${where}: 1_Pooling/config.json must have a pooling mode, got none`);
  }
  return { pooling: undefined, unknown: `a pooling by ${modes.join(" and ")}` };
}

/** The first takes hidden states of `width` numbers. */
export function assertChain(where: string, dense: readonly DenseRule[], width: number): void {
  for (const [at, { inFeatures }] of dense.entries()) {
    const before = dense[at - 1]?.outFeatures ?? width;
    if (before === inFeatures) continue;
    throw new HeedError(
      "load",
      `${where}: a module Dense must take the ${before} numbers that come before it, got ${inFeatures}`,
    );
  }
}
