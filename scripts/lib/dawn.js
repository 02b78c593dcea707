// Gives Node a navigator.gpu: Dawn, by the npm package "webgpu".

/** @param {string} where the package's name, or the address of its main file @returns {Promise<any>} what navigator.gpu is now */
export async function openDawn(where) {
  const { create, globals } = await import(where);
  // Dawn's instance has to outlive its devices: what nobody refers to is collected, and the process with it.
  const gpu = create([]);
  Object.assign(globalThis, globals, { dawn: gpu });
  Object.defineProperty(globalThis, "navigator", {
    value: { ...globalThis.navigator, gpu },
    configurable: true,
  });
  return gpu;
}
