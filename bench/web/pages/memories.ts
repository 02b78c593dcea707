// Remembers every WebAssembly memory that this page makes or is given, to add up their sizes. It is imported before any code
// that could make one.

const memories = new Set<WebAssembly.Memory>();

WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
  construct(target, [descriptor]: [WebAssembly.MemoryDescriptor]) {
    const memory = new target(descriptor);
    memories.add(memory);
    return memory;
  },
});

function noticeExports(instance: WebAssembly.Instance): void {
  for (const value of Object.values(instance.exports)) {
    if (value instanceof WebAssembly.Memory) memories.add(value);
  }
}

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(target, [module, imports]: [WebAssembly.Module, WebAssembly.Imports?]) {
    const instance = new target(module, imports);
    noticeExports(instance);
    return instance;
  },
});

for (const name of ["instantiate", "instantiateStreaming"] as const) {
  const original = WebAssembly[name];
  Reflect.set(WebAssembly, name, async (...args: unknown[]) => {
    const made: WebAssembly.Instance | WebAssembly.WebAssemblyInstantiatedSource = await Reflect.apply(
      original,
      WebAssembly,
      args,
    );
    noticeExports("instance" in made ? made.instance : made);
    return made;
  });
}

/** The bytes of all memories. WebAssembly memory never shrinks, so this is also the most there ever was. */
export function memoryBytes(): number {
  let bytes = 0;
  for (const memory of memories) bytes += memory.buffer.byteLength;
  return bytes;
}
