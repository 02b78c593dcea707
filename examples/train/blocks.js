// Parts of transformers around attention of one's own. They run in a pass of heed/train.

import { Layer, Linear, RMSNorm } from "heed/layers";

export class Attention extends Layer {
  constructor(name, { dim, heads, engine }) {
    super(name, engine);
    this.heads = heads;
    const project = (name) => this.part(name, new Linear({ inFeatures: dim, outFeatures: dim, bias: false, engine }));
    this.query = project("query");
    this.key = project("key");
    this.value = project("value");
    this.out = project("out");
  }

  /** x attends to a memory, by default itself. `place` does something with queries and keys first; the rest is for `pass.attention`. */
  async forward(x, { pass, memory = x, place = (tensor) => tensor, ...options }) {
    const packed = { layout: "packed", heads: this.heads };
    const q = await place(await this.query.forward(x, { pass }), packed);
    const k = await place(await this.key.forward(memory, { pass }), packed);
    const v = await this.value.forward(memory, { pass });
    const { output } = await pass.attention(q, k, v, { ...packed, ...options });
    return this.out.forward(output, { pass });
  }
}

/** Pre-norm residual: x + layer(norm(x)). */
export class Residual extends Layer {
  constructor(dim, layer, engine) {
    super("Residual", engine);
    this.norm = this.part("norm", new RMSNorm({ shape: dim, engine }));
    this.layer = this.part("layer", layer);
  }

  async forward(x, { pass, ...options }) {
    return pass.add(x, this.layer.forward(await this.norm.forward(x, { pass }), { pass, ...options }));
  }
}
