// Embind tells JavaScript of every type that C++ can name, when a module starts. Ours pass 32-bit numbers and nothing else, so
// the converters of the others are left out: they were a third of the glue, which every page loads.

// Converters of integers ask for it without saying so. It is not there when Emscripten only writes types.
const needed = ["$GenericWireTypeSize"].filter((name) => name in LibraryManager.library);
const unused = {};
for (const kind of ["bool", "bigint", "float", "std_string", "std_wstring", "emval", "memory_view"]) {
  unused[`_embind_register_${kind}`] = () => {};
  unused[`_embind_register_${kind}__deps`] = needed;
}
// Nor is a type ever missing, which every build's tests would show: what asks C++ for its name takes all of printf along.
unused.$getTypeName = (/** @type {number} */ type) => `type ${type}`;
unused.$getTypeName__deps = [];
unused.$throwUnboundTypeError = (/** @type {string} */ message) => {
  throw new TypeError(message);
};
unused.$throwUnboundTypeError__deps = [];
addToLibrary(unused);
