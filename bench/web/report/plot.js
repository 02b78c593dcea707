// Bars beside each other, as SVG with its figures written out.

/** @param {string} text */
export const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const [WIDTH, NAMES, FIGURES, BAR] = [720, 250, 70, 13];

/**
 * A group of bars for each name, a bar for each series. What is missing has none.
 * @param {string} title @param {readonly string[]} series
 * @param {readonly { name: string, values: readonly (number | null)[] }[]} groups @param {(value: number) => string} show
 */
export function bars(title, series, groups, show) {
  const most = Math.max(...groups.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const height = series.length * BAR + 8;
  const drawn = groups.map(({ name, values }, row) => {
    const top = row * height;
    const lines = values.map((value, at) => {
      if (value === null) return "";
      const [y, width] = [top + at * BAR, (value / most) * (WIDTH - NAMES - FIGURES)];
      return `<rect class="s${at}" x="${NAMES}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 3}" /><text class="soft" x="${(NAMES + width + 6).toFixed(1)}" y="${y + BAR - 3}">${escaped(show(value))}</text>`;
    });
    return `<text x="${NAMES - 10}" y="${top + height / 2}" text-anchor="end">${escaped(name)}</text>${lines.join("")}`;
  });
  const keys = series.map(
    (name, at) =>
      `<rect class="s${at}" x="${NAMES + at * 150}" y="4" width="10" height="10" /><text x="${NAMES + 16 + at * 150}" y="13">${escaped(name)}</text>`,
  );
  const isAlone = series.length === 1;
  return `<figure><figcaption><h3>${escaped(title)}</h3></figcaption>
<svg viewBox="0 ${isAlone ? 0 : -24} ${WIDTH} ${groups.length * height + (isAlone ? 0 : 24)}" role="img" aria-label="${escaped(title)}">${isAlone ? "" : `<g transform="translate(0 -24)">${keys.join("")}</g>`}${drawn.join("\n")}</svg></figure>`;
}
