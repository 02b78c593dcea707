// What all pages share: the rooms and where they are, and the frame that is written around each page when it is served or built.

import type { Plugin } from "vite";
import { NOTICES } from "./notices.js";

interface Page {
  readonly file: string;
  readonly name: string;
  /** What one does there. */
  readonly about: string;
}

/** In the order of a first visit. */
export const PAGES: readonly Page[] = [
  { file: "index.html", name: "Matrix walk", about: "From words to what each has heard, every number taken apart." },
  {
    file: "dictionary.html",
    name: "Soft dictionary",
    about: "Query a file cabinet, from exact lookup to average; grades and salaries, tastes and movies.",
  },
  {
    file: "score-lab.html",
    name: "Score lab",
    about: "One query, ten ways to score its keys: who gets the attention, what it costs, how long it takes.",
  },
  {
    file: "scale.html",
    name: "Scale",
    about: "Raise the width, watch the softmax saturate; divide by √d, turn the temperature.",
  },
  {
    file: "masks.html",
    name: "Masks",
    about: "Paint who may see whom; see what it saves, and time it on this device.",
  },
  {
    file: "heads.html",
    name: "Heads",
    about: "One head must average, two can split; the multiplication in steps; heads that share.",
  },
  {
    file: "order.html",
    name: "Order",
    about: "Shuffle the words and nothing notices; then give them positions, in five ways.",
  },
  {
    file: "what-else.html",
    name: "What else it is",
    about: "A convolution on your photo, a dense layer, messages on a graph; and how far it reaches.",
  },
  {
    file: "bring-your-own.html",
    name: "Bring your own",
    about: "Your arrays, or 32,768 tokens of an example, from above and down to single multiply-adds; and this device.",
  },
];

export function frame(): Plugin {
  return {
    name: "frame",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) => {
        const here = PAGES.findIndex(({ file }) => path.endsWith(file));
        return html
          .replace("<!-- head -->", HEAD)
          .replace("<!-- masthead -->", masthead(here))
          .replace("<!-- rooms -->", doors(here))
          .replace("<!-- footer -->", footer(here));
      },
    },
  };
}

/** The landing page is the folder itself, whose address is shorter and always there. */
function address({ file }: Page): string {
  return file === "index.html" ? "./" : `./${file}`;
}

const HEAD = `<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="./icon.svg" type="image/svg+xml" />`;

function masthead(here: number): string {
  const links = PAGES.map(
    (page, index) =>
      `<li><a href="${address(page)}"${index === here ? ' aria-current="page"' : ""}>${page.name}</a></li>`,
  );
  return `<a class="skip" href="#content">Skip to the content</a>
    <header class="masthead">
      <a class="wordmark" href="./">heed</a>
      <p class="tagline">Attention in the browser: C++ kernels, compiled to WebAssembly.</p>
      <details class="status">
        <summary><span id="status-summary" data-kind="loading">loading the kernels</span></summary>
        <div id="status-details"></div>
      </details>
      <button id="theme" class="theme" type="button" aria-label="Switch theme"><span></span></button>
      <nav class="rooms" aria-label="Rooms"><ul>${links.join("")}</ul></nav>
    </header>`;
}

/** The other rooms, with what one does in them. */
function doors(here: number): string {
  const others = PAGES.filter((_, index) => index !== here);
  const items = others.map((page) => `<li><a href="${address(page)}">${page.name}</a> <span>${page.about}</span></li>`);
  return `<section class="room" aria-labelledby="rooms-title">
        <div class="room-head"><h2 id="rooms-title">More rooms</h2><ul class="doors">${items.join("")}</ul></div>
      </section>`;
}

function footer(here: number): string {
  const next = PAGES[here + 1];
  const onward =
    next === undefined ? "" : `<p class="onward"><a href="${address(next)}">Next room: ${next.name} →</a></p>`;
  return `<footer class="bottom">
      ${onward}
      <p>
        Everything runs on this device; nothing you type leaves it. heed is MIT-licensed: C++20 and xsimd, built with Emscripten
        (<a href="./${NOTICES}">their licences</a>).
      </p>
      <div id="offline" data-bytes="%SIZE%" hidden></div>
    </footer>
    <noscript><p class="warning">This page computes; without JavaScript it cannot.</p></noscript>`;
}
