// Classes of browsers by name, for users whose compiler knows them: declarations merge. Others see objects.

declare global {
  interface GPUBuffer {}
  interface GPUDevice {}
  interface Worker {}
  namespace WebAssembly {
    interface Module {}
  }
}

export type AnyGpuBuffer = GPUBuffer;
export type AnyGpuDevice = GPUDevice;
export type AnyWorker = Worker;
export type AnyModule = WebAssembly.Module;
