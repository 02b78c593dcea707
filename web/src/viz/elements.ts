// What compilers know of the elements in a document and in JSX. It is types alone.

import type { FlowEvents, HeedFlow } from "./flow.js";
import type { HeadsEvents, HeedHeads } from "./heads.js";
import type { HeedMatrix, MatrixEvents } from "./matrix.js";

/** Attributes that every element takes. */
interface Common {
  readonly id?: string | undefined;
  readonly class?: string | undefined;
  readonly className?: string | undefined;
  readonly dir?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly lang?: string | undefined;
  readonly slot?: string | undefined;
  readonly style?: unknown;
  readonly tabIndex?: number | undefined;
  readonly title?: string | undefined;
  readonly key?: string | number | null | undefined;
  readonly ref?: unknown;
}

/** Properties of an element by their names, and a listener for each of its events. */
type Attributes<Element, Name extends keyof Element, Events> = Common & {
  readonly [Property in Name]?: Element[Property] | undefined;
} & {
  readonly [Type in keyof Events & string as `on${Type}`]?: ((event: Events[Type]) => void) | undefined;
};

/** The elements in JSX. A framework with a namespace of its own takes them by extending its `IntrinsicElements`. */
export interface HeedElements {
  readonly "heed-matrix": Attributes<HeedMatrix, "weights" | "rowLabels" | "columnLabels" | "head", MatrixEvents> & {
    readonly label?: string | undefined;
    readonly tone?: "signed" | "share" | undefined;
  };
  readonly "heed-heads": Attributes<HeedHeads, "weights" | "selected", HeadsEvents> & {
    readonly label?: string | undefined;
  };
  readonly "heed-flow": Attributes<HeedFlow, "weights" | "words" | "head" | "asker" | "still", FlowEvents>;
}

declare global {
  interface HTMLElementTagNameMap {
    "heed-matrix": HeedMatrix;
    "heed-heads": HeedHeads;
    "heed-flow": HeedFlow;
  }
  namespace JSX {
    interface IntrinsicElements extends HeedElements {}
  }
}
