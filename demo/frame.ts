// What all pages share: the rooms and where they are, and the document that is written around each page when it is served or built.

import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { NOTICES } from "./notices.js";
import { links, PACKAGE } from "./package-links.js";

/** The page that one comes to first. */
export const FRONT = "index.html";

/** Attention in ten stops, which lead on to the rooms. */
export const THREAD = "five-minutes.html";
/** Times the device. */
export const SPEED = "speed.html";
const THREAD_LINK = `<li><a href="./${THREAD}">Five minutes</a>`;

/** The rooms, in the order of a first visit: by their files, their names, what one does there and the question that they answer. There is no other list of them. */
const ROOMS = {
  dictionary: [
    "Soft dictionary",
    "Query a file cabinet, from exact lookup to average; grades and salaries, tastes and movies.",
    "What if no key equals the query?",
  ],
  "matrix-walk": [
    "Matrix walk",
    "From words to each word’s output, every number taken apart.",
    "How do words become attention weights?",
  ],
  "score-lab": [
    "Score lab",
    "One query, ten ways to score its keys: who gets the attention, and what it costs.",
    "How well do a query and a key fit?",
  ],
  scale: [
    "Scale",
    "Raise the width, watch the softmax saturate; divide by √d, turn the temperature.",
    "Why divide by √d?",
  ],
  masks: ["Masks", "Paint who may see whom; see what it saves, and time it on this device.", "Who may see whom?"],
  heads: [
    "Heads",
    "One head must average, two can split, two layers can decide; heads that share.",
    "What can two heads do that one cannot?",
  ],
  order: [
    "Order",
    "Shuffle the words and nothing notices; then give them positions, in five ways.",
    "How does attention know which word comes first?",
  ],
  "what-else": [
    "Disguises",
    "Attention can be a convolution, a dense layer, a graph network. See each turn into the other.",
    "What else is attention?",
  ],
  learning: [
    "Learning",
    "Guess, train, and watch attention find its order; gradients as wide as they are large.",
    "How does it learn where to look?",
  ],
  translation: [
    "Translation",
    "Type a date, and see where a network looks as it writes it anew.",
    "Why was attention invented?",
  ],
  language: [
    "Language",
    "BERT and GPT are one block with two masks: fill a blank, write on, switch heads off.",
    "What does a word gain from seeing what follows?",
  ],
  "bring-your-own": [
    "Bring your own",
    "Your arrays, or 32,768 tokens of an example, from above and down to single multiply-adds.",
    "What does it find in my own data?",
  ],
} as const;

export type Room = keyof typeof ROOMS;

export const PAGES = Object.entries(ROOMS).map(([room, [name, about, asks]]) => ({
  room: room as Room,
  file: `${room}.html`,
  name,
  about,
  asks,
}));

export function frame(): Plugin {
  return {
    name: "frame",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) => {
        // Of other pages -1.
        const file = path.split("/").at(-1) ?? "";
        const here = PAGES.findIndex((page) => page.file === file);
        return html
          .replace(PAGE, (_, folder: string, about: string, content: string) =>
            page({ here, file }, folder, about, content),
          )
          .replace("<!-- rooms -->", doors())
          .replace("<!-- downloads -->", downloads)
          .replaceAll(STOP, (_, ...parts: Parameters<typeof stop>) => stop(...parts));
      },
    },
  };
}

/** A page's own part: where its program is, what it is about, and what stands in it, with a title of its own where its heading is none. */
const PAGE = /<!-- page ([\w-]+): (.*?) -->\s*(.*)/s;
const TITLE = /^<title>.*<\/title>\s*/;

type Place = Readonly<{ here: number; file: string }>;

function page({ here, file }: Place, folder: string, about: string, given: string): string {
  const [, name = ""] = /<h1>(.*?)<\/h1>/.exec(given) ?? [];
  const [title = `<title>${name} · heed</title>`] = TITLE.exec(given) ?? [];
  const content = given.replace(TITLE, "");
  const [, plain = ""] = /<title>(.*)<\/title>/.exec(title) ?? [];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="./icon.svg" type="image/svg+xml" />
    <meta name="description" content="${about}" />
    ${title}
    ${shared(file, plain, about)}
  </head>
  <body>
    ${masthead(here)}
    <main id="content">${here < 0 ? content : room(folder, content)}</main>
    ${footer(here)}
    <script type="module" src="./rooms/${folder}/page.ts"></script>
  </body>
</html>`;
}

/** What a link to the page looks like elsewhere. Whole addresses are known where package.json names the site. */
function shared(file: string, title: string, about: string): string {
  const { homepage } = PACKAGE;
  const at = (name: string): string => (homepage === undefined ? `./${name}` : new URL(name, homepage).href);
  const tags = { title, description: about, type: "website", image: at(SHARE), "image:alt": SHARE_SHOWS };
  const meta = Object.entries(tags).map(([name, value]) => `<meta property="og:${name}" content="${value}" />`);
  const canonical = homepage === undefined ? "" : `<link rel="canonical" href="${at(file === FRONT ? "" : file)}" />`;
  return [...meta, `<meta name="twitter:card" content="summary_large_image" />`, canonical].join("\n    ");
}

/** Of the front page with its answer, 1200 by 630. */
const SHARE = "share.png";
const SHARE_SHOWS = "“The animal didn't cross the road because it was too tired”: an arc from “it” to animal";

/** A stop of the thread: what it says, its control, the question that follows from it, and the lab that answers that, or other doors. */
const STOP = /<!-- stop ([\w-]+)(?:, lab ([\w-]+))? -->\s*(<h2>.*?<\/p>)\s*<p>(.*?)<\/p>(\s*<ul.*?<\/ul>)?/gs;

function stop(name: string, lab: Room | undefined, text: string, question: string, doors = ""): string {
  const [title, , asks] = lab === undefined ? [] : ROOMS[lab];
  const door = `<p><a class="link lab" href="./${lab}.html">Open the lab: ${title}</a> <span class="small-label">${asks}</span></p>`;
  return `<section data-stop="${name}">${text}
      <div class="thread-control"></div>
      <p class="thread-question">${question}</p>
      ${lab === undefined ? doors : door}</section>`;
}

/** A room says its name and what it is about; some say what stands in it until its program runs. */
function room(folder: string, content: string): string {
  const end = content.indexOf("</p>") + 4;
  return `<p id="warning" class="warning" role="alert" hidden></p>
      <section class="room whole ${folder.slice(3)}" aria-labelledby="title">
        <div class="room-head">${content.slice(0, end).replace("<h1>", '<h1 id="title">')}</div>
        <div id="room" data-room>${content.slice(end).trim()}</div>
      </section>`;
}

/** The front page asks one question, and has the rooms at its end. */
function masthead(here: number): string {
  const links = PAGES.map(
    ({ file, name }, index) =>
      `<li><a href="./${file}"${index === here ? ' aria-current="page"' : ""}>${name}</a></li>`,
  );
  const nav =
    here < 0 ? "" : `<nav class="rooms" aria-label="Rooms"><ul>${THREAD_LINK}</li>${links.join("")}</ul></nav>`;
  return `<a class="skip" href="#content">Skip to the content</a>
    <header class="masthead">
      <a class="wordmark" href="./">heed</a>
      ${nav}
      <button id="theme" class="theme" type="button" aria-label="Switch theme"><span></span></button>
    </header>`;
}

/** The rooms, with what one does in them. */
function doors(): string {
  const items = PAGES.map(({ file, name, about }) => `<li><a href="./${file}">${name}</a> <span>${about}</span></li>`);
  const thread = `${THREAD_LINK} <span>Attention from a dictionary to two layers, in ten stops. Begin here.</span></li>`;
  return `<ul class="doors">${thread}${items.join("")}</ul>`;
}

/** What a page loads of this version, as docs/record.json has it. */
function downloads(): string {
  const [now]: readonly { version: string; bytes: Readonly<Record<string, number>> }[] = JSON.parse(
    readFileSync(new URL("../docs/record.json", import.meta.url), "utf8"),
  );
  const rows = Object.entries(now?.bytes ?? {}).map(
    ([name, bytes]) => `<tr><th scope="row">${name}</th><td>${(bytes / 1000).toFixed(1)} kB</td></tr>`,
  );
  return `<p>What a page loads, after brotli: an entry with what it needs at once, and at the first call one module of WebAssembly: <i>core</i> has attention, <i>full</i> all operations, <i>training</i> gradients as well, <i>narrow</i> weights of 16 to 4 bits.</p>
<div class="table-frame" tabindex="0" role="region" aria-label="Downloads" id="downloads" data-version="${now?.version}"><table class="plain-table"><tbody>${rows.join("")}</tbody></table></div>`;
}

function footer(here: number): string {
  const next = PAGES[here + 1];
  const onward =
    here < 0 || next === undefined
      ? ""
      : `<p class="onward">${next.asks} <a href="./${next.file}">Next room: ${next.name} →</a></p>`;
  const status =
    here < 0
      ? ""
      : `<details class="status">
        <summary><span id="status-summary" data-kind="loading">loading the kernels</span></summary>
        <div id="status-details"></div>
      </details>`;
  return `<footer class="bottom">
      ${onward}
      ${status}
      <p>${links(PACKAGE)}</p>
      <p>
        Everything runs on this device; nothing you type leaves it. heed is MIT-licensed: C++20 and xsimd, built with Emscripten
        (<a href="./${NOTICES}">their licences</a>).
      </p>
      <p id="score" hidden></p>
      <div id="offline" data-bytes="%SIZE%" hidden></div>
    </footer>
    <noscript><p class="warning">This page computes; without JavaScript it cannot.</p></noscript>`;
}
