// Embind registers converters for all types of C++ when a module starts. heed's modules pass only 32-bit numbers, so the other
// converters are left out: they were a third of the glue, which every page loads.

// Converters of integers need this without declaring it. It is absent when Emscripten only writes types.
const needed = ["$GenericWireTypeSize"].filter((name) => name in LibraryManager.library);
const unused = {};
for (const kind of ["bool", "bigint", "float", "std_string", "std_wstring", "emval", "memory_view"]) {
  unused[`_embind_register_${kind}`] = () => {};
  unused[`_embind_register_${kind}__deps`] = needed;
}
// No type is ever missing, as the tests of every build show. Asking C++ for a type's name would link all of printf.
unused.$getTypeName = (/** @type {number} */ type) => `type ${type}`;
unused.$getTypeName__deps = [];
unused.$throwUnboundTypeError = (/** @type {string} */ message) => {
  throw new TypeError(message);
};
unused.$throwUnboundTypeError__deps = [];
addToLibrary(unused);
