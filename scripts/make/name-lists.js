// The lists of names in minified imports and exports.

/** Each name of a list by its two names. @param {string} list @returns {(readonly [string, string])[]} */
export const pairs = (list) =>
  list.split(",").map((pair) => {
    const [name = "", as = name] = pair.split(" as ");
    return [name, as];
  });

/** @param {string} name @param {string} as */
export const renamed = (name, as) => (name === as ? name : `${name} as ${as}`);
