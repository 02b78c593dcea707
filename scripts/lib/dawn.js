// Gives Node a navigator.gpu: Dawn, by the npm package "webgpu".

/** @param {string} where the package's name, or the address of its main file @returns {Promise<any>} the new navigator.gpu */
export async function openDawn(where) {
  const { create, globals } = await import(where);
  // Dawn's instance has to outlive its devices: if it is garbage-collected, the process crashes.
  const gpu = create([]);
  Object.assign(globalThis, globals, { dawn: gpu });
  Object.defineProperty(globalThis, "navigator", {
    value: { ...globalThis.navigator, gpu },
    configurable: true,
  });
  return gpu;
}
