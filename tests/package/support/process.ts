// A server of a bundler's or framework's that runs until it is stopped, and says at which address.

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { inject } from "vitest";
import { type Consumer, ENVIRONMENT } from "./consumer.js";

export interface Running {
  /** Ends in a slash. */
  readonly address: string;
  stop(): Promise<void>;
}

const START_MS = 60_000;

/** Starts a program of the tools' packages; resolves when it has printed its address. */
export async function start(consumer: Consumer, program: string, ...args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [join(inject("tools"), "node_modules", program), ...args], {
    cwd: consumer.folder,
    env: ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  try {
    return { address: await addressOf(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${why}:\n${printed}`));
    const timer = setTimeout(() => fail("no address was printed in time"), START_MS);
    const read = (text: Buffer): void => {
      // Colours stand between the host and its port.
      printed += stripVTControlCharacters(text.toString());
      const address = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(printed)?.[0];
      if (address === undefined || !/ready|local/i.test(printed)) return;
      clearTimeout(timer);
      resolve(`${address}/`);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => fail(`it ended with code ${code}`));
  });
}
