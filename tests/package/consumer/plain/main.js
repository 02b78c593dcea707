import { load } from "plain";

load().then(({ part }) => Object.assign(globalThis, { outcome: part }));
