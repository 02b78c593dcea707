// Reads the fields of a config.json.

import type { Heed } from "../../api/heed.js";
import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard } from "../../base/guard.js";
import { isRecord, readBoolean, readFinite } from "../../base/read-values.js";
import { listOf } from "../../base/typed-array.js";
import { MOST_LAYERS, readOnce, readShare, readSize, required } from "../read.js";

/** The options that any model takes. */
export interface ModelOptions {
  readonly engine?: Heed | undefined;
}

/** Reads the options of a model. */
export function readEngine(where: string, options: ModelOptions | undefined): Heed | undefined {
  // The constructor of Layer checks it.
  return readOnce(where, "options", options, ["engine"])["engine"] as Heed | undefined;
}

/** Fields that a file may leave out, or give as null. */
type Fields<Name extends string, Value> = { readonly [Field in Name]?: Value | null | undefined };

/** `rope_parameters` or, in older files, `rope_scaling`. */
export interface RopeConfig
  extends Fields<"rope_type" | "type", string>,
    Fields<"rope_theta" | "partial_rotary_factor" | "factor" | "original_max_position_embeddings", number>,
    Fields<"low_freq_factor" | "high_freq_factor", number>,
    Fields<"beta_fast" | "beta_slow" | "attention_factor" | "mscale" | "mscale_all_dim", number>,
    Fields<"truncate", boolean> {
  readonly [field: string]: unknown;
}

/** A model's config.json: the fields that heed reads, of any of its models. It may have others. */
export interface ModelConfig
  extends Fields<"model_type" | "hidden_act" | "position_embedding_type" | "activation_function", string>,
    Fields<"vocab_size" | "hidden_size" | "num_hidden_layers" | "num_attention_heads" | "intermediate_size", number>,
    Fields<"max_position_embeddings" | "type_vocab_size" | "layer_norm_eps", number>,
    Fields<"num_key_value_heads" | "head_dim" | "rms_norm_eps" | "sliding_window", number>,
    Fields<"rope_theta" | "partial_rotary_factor", number>,
    Fields<"rope_parameters" | "rope_scaling", RopeConfig>,
    Fields<"pad_token_id" | "num_labels" | "max_window_layers" | "sliding_window_pattern", number>,
    Fields<"rope_local_base_freq" | "query_pre_attn_scalar" | "final_logit_softcapping", number>,
    Fields<"local_attention" | "global_attn_every_n_layers" | "global_rope_theta" | "local_rope_theta", number>,
    Fields<"dim" | "n_layers" | "n_heads" | "hidden_dim" | "norm_eps" | "no_rope_layer_interval", number>,
    Fields<"hidden_activation" | "activation" | "classifier_activation" | "classifier_pooling", string>,
    Fields<"use_sliding_window" | "use_bidirectional_attention", boolean>,
    Fields<"norm_bias" | "classifier_bias" | "decoder_bias", boolean>,
    Fields<"architectures" | "layer_types", readonly string[]>,
    Fields<"no_rope_layers", readonly (number | boolean)[]>,
    Fields<"id2label", Readonly<Record<string, string>>>,
    Fields<"n_embd" | "n_layer" | "n_head" | "n_positions" | "n_inner" | "layer_norm_epsilon", number>,
    Fields<"is_decoder" | "add_cross_attention" | "tie_word_embeddings" | "attention_bias" | "mlp_bias", boolean>,
    Fields<
      "resid_pdrop" | "embd_pdrop" | "attn_pdrop" | "hidden_dropout_prob" | "dropout" | "attention_dropout",
      number
    >,
    Fields<"attention_probs_dropout_prob" | "classifier_dropout" | "seq_classif_dropout", number>,
    Fields<"embedding_dropout", number>,
    Fields<"scale_attn_weights" | "scale_attn_by_inverse_layer_idx", boolean> {
  readonly [field: string]: unknown;
}

export class ConfigReader {
  readonly #where: string;
  readonly #config: ModelConfig;

  constructor(where: string, config: unknown) {
    if (!isRecord(config)) {
      throw new HeedError(
        "option",
        `${where}: config must be an object as config.json has it, got ${showValue(config)}`,
      );
    }
    this.#where = where;
    this.#config = config;
  }

  /** Throws unless it is of one of these types, by which configurations tell their models apart. */
  ofType(...types: readonly string[]): this {
    if (this.value("model_type") !== undefined) return this.only({ model_type: types });
    const list = types.map(showValue).join(" or ");
    throw new HeedError("option", `${this.#where}: config must have a model_type, ${list}, got none`);
  }

  /** Throws where a field has a value other than those listed. It may be absent. */
  only(computed: Readonly<Record<string, readonly unknown[]>>): this {
    for (const [name, values] of Object.entries(computed)) {
      const value = this.value(name);
      if (value === undefined || values.includes(value)) continue;
      const list = values.map(showValue).join(" or ");
      throw new HeedError("unsupported", `${this.#where}: config.${name} must be ${list}, got ${showValue(value)}`);
    }
    return this;
  }

  /** null counts as undefined. */
  value(name: string): unknown {
    const doing = `${this.#where}: reading config.${name}`;
    return guard("option", doing, () => this.#config[name]) ?? undefined;
  }

  count(name: string, absent?: number, most?: number): number {
    return readSize(this.#where, `config.${name}`, this.value(name) ?? absent, most);
  }

  /** A whole number that may be 0. */
  index(name: string, absent: number): number {
    const value = this.number(name, absent);
    if (Number.isInteger(value) && value >= 0 && value < 2 ** 31) return value;
    throw new HeedError("option", `${this.#where}: config.${name} must be a whole number of at least 0, got ${value}`);
  }

  layers(name: string): number {
    return this.count(name, undefined, MOST_LAYERS);
  }

  number(name: string, absent: number | null = null): number {
    return required(this.#where, `config.${name}`, readFinite(this.#where, `config.${name}`, this.value(name), absent));
  }

  /** A finite number above 0. */
  positive(name: string, absent: number | null = null): number {
    const value = this.number(name, absent);
    if (value > 0) return value;
    throw new HeedError("option", `${this.#where}: config.${name} must be greater than 0, got ${value}`);
  }

  /** A share of numbers to drop; 0 where it is absent. */
  share(name: string): number {
    return readShare(this.#where, `config.${name}`, this.value(name));
  }

  flag(name: string, absent: boolean): boolean {
    return readBoolean(this.#where, `config.${name}`, this.value(name), absent);
  }

  /** The value in `choices` under the name in the field. */
  choice<T>(name: string, choices: Readonly<Record<string, T>>, absent: string): T {
    const value = this.value(name) ?? absent;
    const found = Object.entries(choices).find(([known]) => known === value)?.[1];
    if (found !== undefined) return found;
    const list = Object.keys(choices).join(", ");
    throw new HeedError(
      "unsupported",
      `${this.#where}: config.${name} must be one of ${list}, got ${showValue(value)}`,
    );
  }

  /** A list with a value for each layer, and perhaps more; null where it is absent. */
  each<T>(name: string, layers: number, read: (value: unknown, called: string) => T): readonly T[] | null {
    const value = this.value(name);
    if (value === undefined) return null;
    const called = `${this.#where}: config.${name}`;
    const list = guard("option", `reading ${called}`, () => listOf(value, MOST_LAYERS));
    if (list === null || list.length < layers) {
      throw new HeedError(
        "option",
        `${called} must be a list with one for each of ${layers} layers, got ${showValue(value)}`,
      );
    }
    return list.slice(0, layers).map((one, at) => read(one, `${called}[${at}]`));
  }

  /** The number of fields. */
  size(): number {
    return guard("option", `${this.#where}: reading config`, () => Object.keys(this.#config)).length;
  }

  /** An error that says that a field must be so. */
  unsupported(name: string, rule: string): HeedError {
    return new HeedError(
      "unsupported",
      `${this.#where}: config.${name} must ${rule}, got ${showValue(this.value(name))}`,
    );
  }

  /** A field that is an object; null where it is absent. */
  part(name: string): ConfigReader | null {
    const value = this.value(name);
    return value === undefined ? null : new ConfigReader(`${this.#where}: config.${name}`, value);
  }
}
