// Embind converts values of all types of C++, and looks each type up. heed's modules pass only 32-bit numbers, which need no
// conversion, so functions are called as they are: the converters were half of the glue, which every page loads.

const kinds = ["void", "bool", "integer", "bigint", "float", "std_string", "std_wstring", "emval", "memory_view"];
const registered = {};
for (const kind of kinds) {
  registered[`_embind_register_${kind}`] = () => {};
  registered[`_embind_register_${kind}__deps`] = [];
}
/** @type {(name: number, argCount: number, argTypes: number, signature: number, invoker: number, target: number) => void} */
registered._embind_register_function = (name, _argCount, _argTypes, _signature, invoker, target) => {
  Module[AsciiToString(name)] = wasmTable.get(invoker).bind(null, target);
};
registered._embind_register_function__deps = ["$AsciiToString", "$wasmTable"];

// Where Emscripten only writes types, it needs its own.
if ("$GenericWireTypeSize" in LibraryManager.library) addToLibrary(registered);
// Asking C++ for a type's name would link all of printf.
addToLibrary({ $getTypeName: (/** @type {number} */ type) => `type ${type}`, $getTypeName__deps: [] });
