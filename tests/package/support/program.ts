// Programs that come as packages, one for each platform and processor.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";

/** Where one of the packages has its program on this machine. */
export function programOf(packages: readonly string[], program: string): string {
  const places = packages.map((name) => join(inject("tools"), "node_modules", name, program));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`npm brought none of ${packages.join(", ")} to this machine`);
  return found;
}
