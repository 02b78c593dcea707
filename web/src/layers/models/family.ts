// A family of models: its names, and how its configuration is read.

import type { ConfigReader } from "./config.js";
import type { PublishedNames } from "./names.js";

/** @internal */
export interface ModelFamily<Names extends PublishedNames, Shape> {
  /** The name of its class. */
  readonly where: string;
  /** Its values of `model_type`. */
  readonly types: readonly string[];
  readonly names: Names;
  readonly read: (read: ConfigReader) => Shape;
}
