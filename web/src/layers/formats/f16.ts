// f16: a number in 2 bytes, up to 65504.

import { fromF16, toF16 } from "../../base/f16.js";
import { twoBytes } from "./two-bytes.js";

export const F16 = twoBytes("f16", fromF16, toF16, 65520);
