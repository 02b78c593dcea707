// The entry of custom elements, which brings the names of browsers with it.
export * from "heed/viz";
