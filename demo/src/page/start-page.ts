// The start of every page. Its room is filled unseen, with pauses; then its parts are laid out one after the other, from top to bottom, and
// the engine is opened. So the page never freezes for long, and nothing jumps.

import type { Engine } from "../engine/engine.js";
import { drawn, LAID_OUT, pause } from "../ui/pieces.js";
import { startFrame, tellOfEngine } from "./frame.js";
import { placeLeft } from "./place.js";

/** As they stand below each other; the readout stands beside or below the pictures. */
const PARTS = "[data-picture], .below-picture, .readout, .room-foot";

export function startPage(engine: Engine, room: HTMLElement, fill: () => Promise<void>): void {
  startFrame();
  tellOfEngine(engine);
  void comeUp(engine, room, fill);
}

/** An address may end in the name of a picture, which did not stand there when the browser looked for it. */
function pictureIn(hash: string, room: HTMLElement): Element | null {
  return /^#[a-z-]+$/.test(hash) ? room.querySelector(`[data-picture="${hash.slice(1)}"]`) : null;
}

async function comeUp(engine: Engine, room: HTMLElement, fill: () => Promise<void>): Promise<void> {
  const place = placeLeft();
  room.classList.add("coming");
  // Past the event `load`, for which the browser would lay out whatever stands there in the same task.
  await pause();
  await fill();
  const parts = Array.from(room.querySelectorAll(PARTS));
  for (const part of parts) part.classList.add("to-come");
  room.classList.remove("coming");
  await drawn();
  for (const part of parts) {
    part.classList.remove("to-come");
    for (const inside of part.querySelectorAll(".board")) inside.dispatchEvent(new Event(LAID_OUT));
    if (part.closest("[hidden]") === null) await drawn();
  }
  if (scrollY < place) scrollTo({ top: place, behavior: "instant" });
  else if (place === 0) pictureIn(location.hash, room)?.scrollIntoView({ behavior: "instant" });
  await engine.open();
}
