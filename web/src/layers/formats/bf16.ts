// bfloat16: the upper 2 bytes of an f32.

import { fromBf16, toBf16 } from "../../base/bf16.js";
import { twoBytes } from "./two-bytes.js";

export const BF16 = twoBytes("bf16", fromBf16, toBf16, 2 ** 127 * (2 - 2 ** -8));
