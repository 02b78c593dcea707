// How a person brings something to room 12, and what the room says to it.

import type { Locator, Page } from "playwright";
import type { NamedFile } from "../../support/model-files.js";
import { settled } from "./page.js";

export const PAGE = "bring-your-own.html";

export function message(page: Page): Locator {
  return page.locator(".bringing .field-message");
}

export async function paste(page: Page, value: unknown): Promise<void> {
  const bringing = page.locator(".bringing");
  if ((await bringing.getAttribute("open")) === null) await bringing.locator("summary").click();
  await page.getByLabel("or paste JSON").fill(typeof value === "string" ? value : JSON.stringify(value));
  await page.getByRole("button", { name: "Load" }).click();
}

/** Pasted, taken, and shown by all parts of the room: until then its choices are those of what was there before. */
export async function brought(page: Page, value: unknown): Promise<void> {
  await paste(page, value);
  await message(page).filter({ hasText: "Taken:" }).waitFor();
  await settled(page);
}

/** From a folder onto the page, all at once. */
export async function drop(page: Page, ...files: readonly NamedFile[]): Promise<void> {
  const transfer = await page.evaluateHandle(
    (files) => {
      const transfer = new DataTransfer();
      for (const { name, bytes } of files) transfer.items.add(new File([Uint8Array.from(bytes)], name));
      return transfer;
    },
    files.map(({ name, buffer }) => ({ name, bytes: Array.from(buffer) })),
  );
  await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
}

/** Whether all of it is in the window. */
export function inSight(one: Locator): Promise<boolean> {
  return one.evaluate((element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
  });
}

/** An npy file, version 1, of an array in single precision. */
export function npyOf(shape: readonly number[], data: Float32Array): Uint8Array<ArrayBuffer> {
  const said = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
  const length = Math.ceil((10 + said.length + 1) / 64) * 64 - 10;
  const head = [0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, length & 0xff, length >> 8];
  const text = new TextEncoder().encode(`${said.padEnd(length - 1)}\n`);
  return Uint8Array.from([...head, ...text, ...new Uint8Array(Float32Array.from(data).buffer)]);
}
