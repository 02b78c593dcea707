// The one control in the footer that keeps the site for reading without a network, and forgets it again. Nothing is fetched before.

import { LongWork } from "../ui/controls.js";
import { button } from "../ui/dom.js";

const WORKER = "./offline.js";

/** `line`: with the size of the site in `data-bytes`, where it was built; it stays hidden where nothing can be kept. */
export async function startOffline(line: HTMLElement): Promise<void> {
  const megabytes = Number(line.dataset["bytes"]) / 1e6;
  if (Number.isNaN(megabytes) || !("serviceWorker" in navigator)) return;
  const keep = new LongWork({
    name: `Keep for offline reading (${megabytes.toFixed(1)} MB)`,
    look: "link",
    run: async (signal, say) => {
      await keepAll(signal, say);
      show(true);
      return KEPT;
    },
  });
  const forgetIt = async (): Promise<void> => {
    forget.disabled = true;
    await forgetAll(await ownRegistration());
    forget.disabled = false;
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
  const registration = await ownRegistration();
  const isKept = (registration?.active ?? null) !== null;
  show(isKept);
  if (isKept) keep.say(KEPT);
  // Begun on a page before.
  else if (registration?.installing) keep.button.click();
  line.hidden = false;
}

const KEPT = "Kept for offline reading.";

/** Another site may have one for a folder around this. */
async function ownRegistration(): Promise<ServiceWorkerRegistration | undefined> {
  const found = await navigator.serviceWorker.getRegistration();
  return found?.scope === new URL("./", location.href).href ? found : undefined;
}

async function keepAll(signal: AbortSignal, say: (text: string) => void): Promise<void> {
  const { serviceWorker } = navigator;
  say("Asking for the files …");
  const { installing, active } = await serviceWorker.register(WORKER);
  // One that was told to forget comes back as long as a page of its own is open, without being installed anew.
  if (installing === null) active?.postMessage("keep");
  const heard = new AbortController();
  signal.addEventListener("abort", () => (installing ?? active)?.postMessage("stop"), heard);
  try {
    await new Promise<void>((done, fail) => {
      type Progress = MessageEvent<{ share?: number; trouble?: string }>;
      const follow = ({ data: { share = 0, trouble } }: Progress): void => {
        say(`Keeping ${Math.round(100 * share)} %`);
        if (trouble !== undefined) fail(new Error(trouble));
        else if (share === 1) done();
      };
      serviceWorker.addEventListener("message", follow, heard);
      serviceWorker.startMessages();
    });
    await serviceWorker.ready;
  } finally {
    heard.abort();
  }
}

async function forgetAll(registration: ServiceWorkerRegistration | undefined): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const forgotten = new Promise((done) => {
    port1.onmessage = done;
  });
  registration?.active?.postMessage("forget", [port2]);
  if (registration?.active) await forgotten;
}
