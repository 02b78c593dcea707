// The elements' own styles. Colours and fonts are a page's where it sets them as --heed-...; those without are drawn for both themes.

/** Text on cells: dark on light ones, white on dark ones, black where both would be close; at least 4.5 : 1 at every level. */
const THEME = `
:is(heed-matrix, heed-heads, heed-flow) {
  color: var(--_ink);
  --_paper: var(--heed-paper, light-dark(oklch(0.985 0.004 85), oklch(0.185 0.012 265)));
  --_raised: var(--heed-raised, light-dark(oklch(1 0 0), oklch(0.215 0.014 265)));
  --_ink: var(--heed-ink, light-dark(oklch(0.24 0.02 265), oklch(0.93 0.008 85)));
  --_soft-ink: var(--heed-soft-ink, light-dark(oklch(0.44 0.02 265), oklch(0.75 0.012 265)));
  --_line: var(--heed-line, light-dark(oklch(0.89 0.008 85), oklch(0.33 0.015 265)));
  --_accent: var(--heed-accent, light-dark(oklch(0.45 0.16 275), oklch(0.78 0.11 280)));
  --_cell: var(--heed-cell, light-dark(oklch(0.972 0.004 85), oklch(0.235 0.012 265)));
  --_above: var(--heed-above, light-dark(oklch(0.43 0.13 255), oklch(0.8 0.1 245)));
  --_below: var(--heed-below, light-dark(oklch(0.44 0.12 48), oklch(0.8 0.11 62)));
  --_share: var(--heed-share, light-dark(oklch(0.445 0.17 290), oklch(0.8 0.11 300)));
  --_on-low: var(--heed-on-low, light-dark(oklch(0.14 0.02 265), oklch(1 0 0)));
  --_on-middle: var(--heed-on-middle, oklch(0 0 0));
  --_on-high: var(--heed-on-high, light-dark(oklch(1 0 0), oklch(0.1 0.02 265)));
  --_serif: var(--heed-serif, Georgia, serif);
  --_sans: var(--heed-sans, system-ui, sans-serif);
  --_mono: var(--heed-mono, ui-monospace, Menlo, Consolas, monospace);
}

:is(heed-matrix, heed-heads, heed-flow, heed-matrix *, heed-heads *, heed-flow *) {
  box-sizing: border-box;
}

@media (prefers-reduced-motion: reduce) {
  :is(heed-matrix, heed-flow) :is(*, ::before) {
    animation: none;
    transition: none;
  }
}
`;

export const MATRIX_STYLE = `${THEME}
heed-matrix {
  display: block;
  min-width: 0;
  max-width: 100%;
  --w: 35px;
  --h: 24px;
  --label: 64px;
}

.matrix-caption {
  display: flex;
  align-items: baseline;
  gap: 0.6em;
  margin: 0 0 4px 0;
  padding-left: calc(var(--label) + 4px);
  min-height: 1.5em;
}

.matrix-title {
  font: italic 500 1.05rem / 1.3 var(--_serif);
  white-space: nowrap;
}

.matrix-title sub {
  font-size: 0.7em;
  line-height: 0;
}

.matrix-about {
  font-size: 0.8rem;
  line-height: 1.25;
  color: var(--_soft-ink);
}

.matrix-frame {
  overflow-x: auto;
  /* Room for the outlines of lit cells. */
  padding: 2px 3px 4px 0;
}

heed-matrix table {
  border-collapse: separate;
  border-spacing: 1px;
  font: 0.7rem / 1 var(--_mono);
  font-variant-numeric: tabular-nums;
  /* So that "−0.20" leaves room to its neighbours. */
  letter-spacing: -0.03em;
  table-layout: fixed;
  width: max-content;
}

heed-matrix th {
  font: 400 0.8rem / 1 var(--_sans);
  color: var(--_soft-ink);
  padding: 0;
}

heed-matrix th[scope="row"],
heed-matrix .corner {
  width: var(--label);
  max-width: var(--label);
  padding-right: 7px;
  text-align: right;
  overflow: hidden;
}

heed-matrix th[scope="row"] {
  position: sticky;
  left: 0;
  z-index: 2;
  background: var(--heed-ground, var(--_paper));
}

heed-matrix th[scope="row"] span {
  display: block;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
  line-height: 1.3;
}

heed-matrix th[scope="col"] {
  height: 64px;
  vertical-align: bottom;
  text-align: left;
}

heed-matrix th[scope="col"] span {
  display: block;
  writing-mode: vertical-rl;
  transform: rotate(180deg);
  max-height: 62px;
  margin-inline: auto;
  padding-top: 3px;
  width: 1.3em;
  line-height: 1.3em;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

heed-matrix td[data-row] {
  width: var(--w);
  min-width: var(--w);
  height: var(--h);
  padding: 0;
  border-radius: 3px;
  text-align: center;
  cursor: default;
  --tint: var(--_above);
  color: var(--_on-low);
  background: color-mix(in oklab, var(--tint) calc(var(--level) * 100%), var(--_cell));
}

heed-matrix td[data-tone="below"] {
  --tint: var(--_below);
}

heed-matrix td[data-tone="share"] {
  --tint: var(--_share);
}

heed-matrix td[data-ink="high"] {
  color: var(--_on-high);
}

heed-matrix td[data-ink="middle"] {
  color: var(--_on-middle);
}

heed-matrix td.zero {
  color: var(--_soft-ink);
}

heed-matrix td.struck {
  color: var(--_soft-ink);
  background: repeating-linear-gradient(135deg, var(--_cell) 0 4px, var(--_line) 4px 5px);
}

/* A lit row or column is framed as a whole: the frame of each cell reaches over the gap to the next. */
heed-matrix td:is(.lit-row, .lit-col, .lit-cell) {
  position: relative;
  z-index: 1;
}

heed-matrix td:is(.lit-row, .lit-col, .lit-cell)::after {
  content: "";
  position: absolute;
  pointer-events: none;
  border: 0 solid var(--_ink);
}

heed-matrix td.lit-row::after {
  inset: -1px;
  border-block-width: 2px;
}

heed-matrix td.lit-col::after {
  inset: -1px;
  border-inline-width: 2px;
}

heed-matrix td.lit-cell::after {
  inset: -1px;
  border-width: 2px;
  border-radius: 4px;
}

heed-matrix td:focus-visible {
  outline: 3px solid var(--_accent);
  outline-offset: 0;
  position: relative;
  z-index: 1;
}

heed-matrix table.editable td[data-row] {
  cursor: cell;
}

heed-matrix td input {
  width: 100%;
  height: 100%;
  padding: 0;
  border: 0;
  border-radius: 3px;
  background: var(--_raised);
  /* Not the cell's, which stands out from its colour. */
  color: var(--_ink);
  font: inherit;
  text-align: center;
}

heed-matrix td input[aria-invalid] {
  outline: 2px solid var(--_below);
}

/* No wider than the table. */
heed-matrix .matrix-trouble {
  width: 0;
  min-width: 100%;
  margin: 2px 0 0;
  font: 0.8rem / 1.3 var(--_sans);
  color: var(--_below);
}

heed-matrix .matrix-trouble:empty {
  display: none;
}

@keyframes cell-appears {
  from {
    opacity: 0;
    transform: scale(0.6);
  }
}

heed-matrix table.appear td[data-row] {
  animation: cell-appears 0.36s backwards;
  animation-delay: calc(var(--wave) * 26ms);
}

@media (max-width: 760px) {
  heed-matrix {
    --w: 29px;
    --h: 27px;
    --label: 56px;
  }

  heed-matrix table {
    font-size: 0.64rem;
    letter-spacing: -0.06em;
  }

  heed-matrix th {
    font-size: 0.76rem;
  }
}
`;

export const FLOW_STYLE = `${THEME}
heed-flow {
  display: block;
  position: relative;
  --word-size: 30px;
}

/* A page may give it another height. */
:where(heed-flow) {
  height: clamp(210px, 26vw, 320px);
}

heed-flow svg {
  position: absolute;
  /* A margin for strokes and dots, as MARGIN in flow.ts; content that overflows the picture would count as a layout shift. */
  inset: -14px;
  width: calc(100% + 28px);
  height: calc(100% + 28px);
  pointer-events: none;
  opacity: 0;
}

/* Fades in when first drawn; Chromium would count a picture that appears at once as a layout shift. */
heed-flow.drawn svg {
  opacity: 1;
  transition: opacity 0.5s;
}

heed-flow .flow-faint path,
heed-flow .flow-bold path {
  fill: none;
  stroke: var(--_share);
  stroke-linecap: round;
}

heed-flow .flow-faint {
  opacity: 0.16;
}

heed-flow .flow-dots {
  fill: var(--_paper);
  stroke: var(--_share);
  stroke-width: 1.4;
}

heed-flow .flow-askers {
  position: absolute;
  inset: auto 0 0;
  display: flex;
  justify-content: center;
  gap: 0.1em;
  font-size: var(--word-size);
}

heed-flow .flow-answers {
  display: none;
}

heed-flow .flow-word {
  position: relative;
  flex: none;
  border: 0;
  border-radius: 8px;
  background: none;
  padding: 0.12em 0.26em 0.2em;
  font: 400 1em / 1.25 var(--_serif);
  color: var(--_ink);
  white-space: nowrap;
  max-width: 9em;
  overflow: hidden;
  text-overflow: ellipsis;
  transition: color 0.3s;
}

/* How much a word is heard, as the depth of its ground. */
heed-flow .flow-word::before {
  content: "";
  position: absolute;
  inset: 0;
  z-index: -1;
  border-radius: 8px;
  background: var(--_share);
  opacity: calc(var(--strength, 0) * 0.26);
  transition: opacity 0.35s;
}

heed-flow .flow-word.asking {
  color: var(--_share);
  text-decoration: underline;
  text-decoration-thickness: 2px;
  text-underline-offset: 0.22em;
}

heed-flow .flow-word.mute {
  color: var(--_soft-ink);
}

heed-flow .flow-word.hidden-word {
  text-decoration: line-through;
  color: var(--_soft-ink);
}

heed-flow[data-mode="columns"] {
  display: grid;
  grid-template-columns: auto auto;
  justify-content: space-between;
  height: auto;
  min-height: 210px;
}

heed-flow[data-mode="columns"] :is(.flow-askers, .flow-answers) {
  position: static;
  display: flex;
  flex-direction: column;
  gap: 1px;
  font-size: 16.5px;
  max-width: 45vw;
}

heed-flow[data-mode="columns"] .flow-askers .flow-word::before {
  opacity: 0;
}

heed-flow[data-mode="columns"] .flow-askers {
  align-items: flex-end;
}

heed-flow[data-mode="columns"] .flow-answers {
  align-items: flex-start;
}

heed-flow[data-mode="columns"] .flow-word {
  padding-block: 0.14em;
  min-height: 27px;
}

heed-flow[data-mode="columns"] .flow-answers .flow-word {
  padding-right: 3.4em;
}

heed-flow .flow-answers i {
  position: absolute;
  right: 0.4em;
  top: 0.35em;
  font: 400 0.76em / 1.4 var(--_sans);
  font-variant-numeric: tabular-nums;
  color: var(--_soft-ink);
}
`;

export const HEADS_STYLE = `${THEME}
heed-heads {
  display: block;
}

.heads-list {
  display: flex;
  flex-wrap: wrap;
  gap: 8px;
}

.head {
  display: grid;
  gap: 2px;
  padding: 4px;
  border: 1px solid var(--_line);
  border-radius: 8px;
  background: var(--_raised);
  font: 0.75rem / 1.2 var(--_sans);
  color: var(--_soft-ink);
  cursor: pointer;
}

.head canvas {
  display: block;
  width: var(--size, 72px);
  height: var(--size, 72px);
  border-radius: 4px;
  background: var(--_cell);
  color: var(--_share);
  image-rendering: pixelated;
}

.head[aria-pressed="true"] {
  border-color: var(--_accent);
  box-shadow: 0 0 0 1px var(--_accent);
  color: var(--_ink);
}

.head:focus-visible {
  outline: 2px solid var(--_accent);
  outline-offset: 2px;
}
`;
