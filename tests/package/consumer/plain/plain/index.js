export const load = () => import("./part.js");
