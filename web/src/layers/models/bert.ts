// BERT and what came from it: token, position and segment embeddings, and a post-norm encoder.

import { ACTIVATIONS } from "./activations.js";
import type { ConfigReader, ModelConfig, ModelOptions } from "./config.js";
import { type EncoderFamily, EncoderModel, type EncoderShape } from "./encoder-model.js";
import { BERT_NAMES, DISTILBERT_NAMES, MPNET_NAMES, ROBERTA_NAMES } from "./names.js";

const COMPUTED = {
  position_embedding_type: ["absolute"],
  is_decoder: [false],
  add_cross_attention: [false],
};

/** What all but DistilBERT say alike. `epsilon`: where the configuration leaves it out. */
function readBertLike(read: ConfigReader, epsilon = 1e-12) {
  const norm = { epsilon: read.number("layer_norm_eps", epsilon) };
  const activation = read.choice("hidden_act", ACTIVATIONS, "gelu");
  const dropout = read.share("hidden_dropout_prob");
  const classes = read.value("classifier_dropout") === undefined ? dropout : read.share("classifier_dropout");
  return {
    stack: {
      layers: read.layers("num_hidden_layers"),
      dim: read.count("hidden_size"),
      heads: read.count("num_attention_heads"),
      hidden: read.count("intermediate_size"),
      activation,
      normFirst: false,
      dropout,
      attentionDropout: read.share("attention_probs_dropout_prob"),
      ...norm,
    },
    dropout: { embeddings: dropout, texts: [classes, classes], tokens: [classes, 0] },
    count: read.count("vocab_size"),
    norm,
    hasPooler: true,
  } as const;
}

const BERT: EncoderFamily = {
  where: "BertModel",
  types: ["bert"],
  names: BERT_NAMES,
  read(read) {
    const shape = readBertLike(read.only(COMPUTED));
    return {
      ...shape,
      positions: { count: read.count("max_position_embeddings"), first: 0, pad: null },
      segments: read.count("type_vocab_size", 2),
      words: { activation: shape.stack.activation, norm: shape.norm },
      classes: { from: "pooler", ofTexts: null, ofTokens: null },
    };
  },
};

/** Positions and heads of RoBERTa: a word of padding has a position of its own, and those of tokens come after it. */
function readRobertaLike(read: ConfigReader, epsilon: number, pad: number): EncoderShape {
  const shape = readBertLike(read, epsilon);
  return {
    ...shape,
    positions: { count: read.count("max_position_embeddings"), first: pad + 1, pad },
    words: { activation: "gelu", norm: shape.norm },
    classes: { from: "cls", ofTexts: { activation: "tanh" }, ofTokens: null },
  };
}

const ROBERTA: EncoderFamily = {
  where: "RobertaModel",
  types: ["roberta", "xlm-roberta", "camembert"],
  names: ROBERTA_NAMES,
  read(read) {
    const shape = readRobertaLike(read.only(COMPUTED), 1e-12, read.index("pad_token_id", 1));
    return { ...shape, segments: read.count("type_vocab_size", 2) };
  },
};

const MPNET: EncoderFamily = {
  where: "MPNetModel",
  types: ["mpnet"],
  names: MPNET_NAMES,
  read(read) {
    // transformers takes neither from the configuration.
    const pad = 1;
    const shape = readRobertaLike(read.only({ relative_attention_num_buckets: [32] }), 1e-12, pad);
    return { ...shape, stack: { ...shape.stack, relativeBias: { buckets: 32, maxDistance: 128 } } };
  },
};

const DISTILBERT: EncoderFamily = {
  where: "DistilBertModel",
  types: ["distilbert"],
  names: DISTILBERT_NAMES,
  read(read) {
    const norm = { epsilon: 1e-12 };
    const activation = read.choice("activation", ACTIVATIONS, "gelu");
    const dim = read.count("dim");
    const dropout = read.share("dropout");
    return {
      stack: {
        layers: read.layers("n_layers"),
        dim,
        heads: read.count("n_heads"),
        hidden: read.count("hidden_dim", 4 * dim),
        activation,
        normFirst: false,
        // What attention adds stays whole.
        dropout: [0, dropout],
        attentionDropout: read.share("attention_dropout"),
        ...norm,
      },
      dropout: { embeddings: dropout, texts: [0, read.share("seq_classif_dropout")], tokens: [dropout, 0] },
      count: read.count("vocab_size"),
      positions: { count: read.count("max_position_embeddings"), first: 0, pad: null },
      norm,
      hasPooler: false,
      words: { activation, norm },
      classes: { from: "cls", ofTexts: { activation: "relu" }, ofTokens: null },
    };
  },
};

/** BERT, from its config.json and its published parameters, whose names may begin with `bert.`. */
export class BertModel extends EncoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(BERT, config, options);
  }
}

/** RoBERTa, XLM-R or CamemBERT, from its config.json and its published parameters, whose names may begin with `roberta.`. */
export class RobertaModel extends EncoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(ROBERTA, config, options);
  }
}

/** DistilBERT, from its config.json and its published parameters, whose names may begin with `distilbert.`. */
export class DistilBertModel extends EncoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(DISTILBERT, config, options);
  }
}

/** MPNet, from its config.json and its published parameters, whose names may begin with `mpnet.`. */
export class MPNetModel extends EncoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(MPNET, config, options);
  }
}
