// The guard of an async generator: everything that it throws is a HeedError.

import type { HeedErrorCode } from "./errors.js";
import { guardAsync } from "./guard.js";

export async function* guardStream<T>(
  code: HeedErrorCode,
  where: string,
  made: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  try {
    for (;;) {
      const { done, value } = await guardAsync(code, where, () => made.next());
      if (done) return;
      yield value;
    }
  } finally {
    await made.return();
  }
}
