// Requests of files that a model may have.

import { showValue } from "../base/describe.js";
import { causeText, HeedError } from "../base/errors.js";
import { assertNotAborted } from "../layers/io/byte-reader.js";

export async function request(where: string, address: URL, options: RequestInit): Promise<Response> {
  try {
    return await fetch(address, options);
  } catch (cause) {
    assertNotAborted(where, options.signal ?? null);
    const why = `${causeText(cause)}, or the server does not allow this page to read it (CORS)`;
    throw new HeedError("load", `${where}: ${showValue(address.href)} could not be fetched: ${why}`, { cause });
  }
}

/** Whether the server does not have the file. Many servers of single pages answer with the page instead. */
export function isMissing(answer: Response): boolean {
  const isPage = answer.headers.get("content-type")?.startsWith("text/html") ?? false;
  return answer.status === 404 || answer.status === 410 || (answer.ok && isPage);
}
