// The one control in the footer that keeps the site for reading without a network, and forgets it again. Nothing is fetched before.

import { LongWork } from "../ui/controls.js";
import { button } from "../ui/dom.js";

const KEPT = "Kept for offline reading.";
const SCOPE = new URL("./", location.href).href;

/** `line`: with the size of the site in `data-bytes`, where it was built; it stays hidden where nothing can be kept. */
export async function startOffline(line: HTMLElement): Promise<void> {
  const megabytes = Number(line.dataset["bytes"]) / 1e6;
  if (Number.isNaN(megabytes) || !("serviceWorker" in navigator)) return;
  const keep = new LongWork({
    name: `Keep for offline reading (${megabytes.toFixed(1)} MB)`,
    look: "link",
    run: async (signal, say) => {
      say("Keeping all files …");
      try {
        await keepAll(signal);
      } catch (error) {
        await forgetAll();
        throw error;
      }
      show(true);
      return KEPT;
    },
  });
  const forgetIt = async (): Promise<void> => {
    await forgetAll();
    show(false);
    keep.say("Forgotten.");
  };
  const forget = button("Forget", () => void forgetIt(), "link");
  const show = (isKept: boolean): void => {
    keep.button.hidden = isKept;
    forget.hidden = !isKept;
  };
  const row = keep.line();
  row.append(forget);
  line.append(row);
  const { active = null, installing } = (await ownRegistration()) ?? {};
  show(active !== null);
  if (active !== null) keep.say(KEPT);
  // Begun on a page before.
  else if (installing) keep.button.click();
  line.hidden = false;
}

/** Another site may have one for a folder around this. */
async function ownRegistration(): Promise<ServiceWorkerRegistration | undefined> {
  const found = await navigator.serviceWorker.getRegistration();
  return found?.scope === SCOPE ? found : undefined;
}

async function keepAll(signal: AbortSignal): Promise<void> {
  // One that was forgotten comes back as long as a page of its own is open, without being installed anew: by another address it is another.
  const begun = (await ownRegistration())?.installing;
  const worker = begun ?? (await navigator.serviceWorker.register(`./offline.js?${Date.now()}`)).installing;
  await new Promise<void>((done, fail) => {
    signal.addEventListener("abort", () => worker?.postMessage("stop"));
    const follow = (): void => {
      if (worker?.state === "activated") done();
      if (worker?.state === "redundant") fail(new Error("a file did not come"));
    };
    worker?.addEventListener("statechange", follow);
    follow();
  });
}

async function forgetAll(): Promise<void> {
  await (await ownRegistration())?.unregister();
  const own = (await caches.keys()).filter((name) => name.startsWith(`heed ${SCOPE} `));
  await Promise.all(own.map((name) => caches.delete(name)));
}
