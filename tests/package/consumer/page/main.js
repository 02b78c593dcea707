import * as heed from "heed";
import * as reference from "heed/reference";
import { compute, leave } from "./compute.js";

leave(compute(heed, reference));
