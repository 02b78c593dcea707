// Classes of browsers by name. Where the compiler's library declares them, the declarations merge; elsewhere they are plain objects.

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
