// Docs and examples: pages to read, with the frame that every page has.

import { startFrame } from "../../src/page/frame.js";
import "../../style/document.css";

startFrame();
