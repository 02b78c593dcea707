// A generator whose errors are HeedErrors, whatever its caller's functions and objects throw.

import { asyncStep } from "./door.js";
import type { HeedErrorCode } from "./errors.js";

export async function* guarded<T>(
  code: HeedErrorCode,
  where: string,
  made: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  try {
    for (;;) {
      const { done, value } = await asyncStep(code, where, () => made.next());
      if (done) return;
      yield value;
    }
  } finally {
    await made.return();
  }
}
