// What vitest.config.ts provides to tests.

import "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether the pages of this project are served cross-origin isolated. */
    isolated: boolean;
    chromiumPath: string;
  }
}
