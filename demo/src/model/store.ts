// Holds a room's state and the cell that was chosen in it, tells whoever listens, and keeps the address bar in step.

/** A cell of a matrix, counted from 0. The one that is told about stands in the address of every room: "cell=A.2.3". */
export interface Cell {
  readonly name: string;
  readonly row: number;
  readonly col: number;
}

/**
 * What a change is in the browser's history: "same" rewrites the address of the present entry; "new" adds an entry; "run" adds one at
 * first and rewrites it as long as a run of typing, dragging or playing goes on.
 */
export type Entry = "same" | "new" | "run";

type Listener<S> = (state: S, before: S) => void;

/** How one room's state stands in the address, and which states make sense. */
export interface Codec<S> {
  readonly initial: S;
  /** The nearest state that makes sense. */
  readonly consistent: (state: S) => S;
  readonly fromHash: (hash: string) => Partial<S>;
  /** How each field is named there. */
  readonly keyOf: (name: keyof S) => string;
  /** Only what differs from the initial state; empty for the initial state itself. */
  readonly toHash: (state: S) => string;
}

export class Store<S extends object> {
  readonly #codec: Codec<S>;
  readonly #turningAway: readonly (keyof S)[];
  #state: S;
  /** The cell that was chosen to be told about. It need not exist. */
  #cell: Cell | undefined;
  readonly #listeners: Listener<S>[] = [];
  /** By their names in the address. */
  readonly #locked = new URLSearchParams(location.search).get("lock")?.split(",") ?? [];
  #written: string;
  #isRunning = false;

  /** `turningAway`: whoever changes one of these looks elsewhere, so that the cell is forgotten. */
  constructor(codec: Codec<S>, turningAway: readonly (keyof S)[] = []) {
    this.#codec = codec;
    this.#turningAway = turningAway;
    this.#written = location.hash;
    this.#state = this.#read();
    this.#cell = readCell(location.hash);
    addEventListener("hashchange", () => this.#follow());
    for (const end of ["change", "pointerup"]) {
      addEventListener(end, () => {
        this.#isRunning = false;
      });
    }
  }

  get state(): S {
    return this.#state;
  }

  get cell(): Cell | undefined {
    return this.#cell;
  }

  /** Whoever embeds the page says what stays as the address has it. */
  isLocked(name: keyof S): boolean {
    return this.#locked.includes(this.#codec.keyOf(name));
  }

  change(patch: Partial<S>, entry: Entry = "same"): void {
    this.#follow();
    const open = Object.entries(patch).filter(([name]) => !this.isLocked(name as keyof S));
    const next = this.#codec.consistent({ ...this.#state, ...Object.fromEntries(open) });
    if (this.#turningAway.some((key) => next[key] !== this.#state[key])) this.#cell = undefined;
    this.#become(next);
    this.#write(entry === "new" || (entry === "run" && !this.#isRunning));
    this.#isRunning = entry === "run";
  }

  /** Nobody is told: the numbers stay as they are. */
  hold(cell: Cell | undefined): void {
    this.#follow();
    this.#cell = cell;
    this.#write();
  }

  /** What is shown with the state has changed, not the state. */
  renew(): void {
    this.#become(this.#state);
  }

  listen(listener: Listener<S>): void {
    this.#listeners.push(listener);
  }

  #write(isNew = false): void {
    const hash = withCell(this.#codec.toHash(this.#state), this.#cell);
    this.#written = hash;
    if (hash === location.hash) return;
    // Safari allows 100 of these in ten seconds; dragging a slider makes more.
    try {
      history[isNew ? "pushState" : "replaceState"](null, "", hash === "" ? location.pathname + location.search : hash);
    } catch {
      this.#written = location.hash;
    }
  }

  /** Becomes what the address says, if somebody else wrote it: the event that tells comes later than a change may. */
  #follow(): void {
    // A hash without "=" is a place on the page, not a state.
    if (location.hash === this.#written || /^#[^=]+$/.test(location.hash)) return;
    this.#written = location.hash;
    this.#cell = readCell(location.hash);
    this.#become(this.#read());
  }

  #read(): S {
    return this.#codec.consistent({ ...this.#codec.initial, ...this.#codec.fromHash(location.hash) });
  }

  #become(next: S): void {
    const before = this.#state;
    this.#state = next;
    for (const listener of this.#listeners) listener(next, before);
  }
}

const CELL = "cell";

/** undefined for what cannot be read: an address may come from anywhere. */
function readCell(hash: string): Cell | undefined {
  const text = new URLSearchParams(hash.replace(/^#/, "")).get(CELL) ?? "";
  const [, name, row, col] = /^([\w-]+)\.(\d{1,8})\.(\d{1,8})$/.exec(text) ?? [];
  return name === undefined ? undefined : { name, row: Number(row), col: Number(col) };
}

/** `hash`: what the address says besides, or nothing. */
function withCell(hash: string, cell: Cell | undefined): string {
  if (cell === undefined) return hash;
  return `${hash === "" ? "#" : `${hash}&`}${CELL}=${cell.name}.${cell.row}.${cell.col}`;
}
