// Makes the page of what `npm run bench -- report` measured: node bench/web/report.js report.json report.html

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { reportPage } from "./report/page.js";

const TEXTS = ["README.md", "docs/performance.md", "docs/numerics.md", "docs/conformance.md"];
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const [from = "", to = ""] = process.argv.slice(2);
const documents = Object.fromEntries(TEXTS.map((path) => [path, readFileSync(`${ROOT}${path}`, "utf8")]));
writeFileSync(to, reportPage(JSON.parse(readFileSync(from, "utf8")), documents));
