// Something that is loaded at its first use and disposed of with its owner.

export class Lazy<T extends { dispose(): void }> {
  readonly #load: () => Promise<T>;
  #opening: Promise<T> | null = null;
  #opened: T | null = null;
  #disposed = false;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Null until it is loaded. */
  get opened(): T | null {
    return this.#opened;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  async open(): Promise<T> {
    this.#opening ??= this.#start();
    try {
      return await this.#opening;
    } catch (error) {
      // The next call tries again: the network or memory may be back.
      this.#opening = null;
      throw error;
    }
  }

  /** Ends what is open; the next call opens another. */
  close(): void {
    this.#opened?.dispose();
    this.#opened = this.#opening = null;
  }

  dispose(): void {
    this.#disposed = true;
    this.close();
  }

  async #start(): Promise<T> {
    const opened = await this.#load();
    if (this.#disposed) opened.dispose();
    else this.#opened = opened;
    return opened;
  }
}
