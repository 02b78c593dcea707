export const part = "loaded";
