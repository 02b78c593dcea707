// A stranger's project: a folder with some files, the installed package, and nothing else. Tools are found in a folder above.

import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";

const sources = fileURLToPath(new URL("../consumer/", import.meta.url));
const run = promisify(execFile);

export type Entry = "heed" | "heed/assets";

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

export class Consumer {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** `kind` is a folder of ../consumer. */
  static async make(name: string, kind: string): Promise<Consumer> {
    const consumer = new Consumer(join(inject("workshop"), name));
    await mkdir(consumer.folder);
    await cp(join(sources, kind), consumer.folder, { recursive: true });
    await cp(join(inject("workshop"), "node_modules/heed"), consumer.path("node_modules/heed"), { recursive: true });
    await writeFile(consumer.path("package.json"), consumer.manifest);
    return consumer;
  }

  /** What its package.json says, and still must say when a bundler was there. */
  readonly manifest = JSON.stringify({ name: "consumer", private: true, type: "module", dependencies: { heed: "*" } });

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** Adds a file or folder of ../consumer. */
  async add(source: string, target: string): Promise<void> {
    await cp(join(sources, source), this.path(target), { recursive: true });
  }

  /** Has a file import another entry of the package than "heed". */
  async useEntry(file: string, entry: Entry): Promise<void> {
    const text = await readFile(this.path(file), "utf8");
    await writeFile(this.path(file), text.replace('from "heed"', `from "${entry}"`));
  }

  /** Runs a program of the tools' packages that is JavaScript. */
  tool(program: string, ...args: readonly string[]): Promise<Printed> {
    return this.run(process.execPath, [join(inject("tools"), "node_modules", program), ...args]);
  }

  run(program: string, args: readonly string[], timeout = 120_000): Promise<Printed> {
    return run(program, args, { cwd: this.folder, timeout, env: ENVIRONMENT });
  }
}

/** As in a shell of a developer's: what Vitest set would change what bundlers do. */
export const ENVIRONMENT: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:NODE_ENV|NODE_OPTIONS|VITE|VITEST|TEST$|DEV$|PROD$)/.test(name),
    ),
  ),
  NEXT_TELEMETRY_DISABLED: "1",
};
