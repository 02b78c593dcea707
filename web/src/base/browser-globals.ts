// Classes of browsers by name. Where the compiler's library declares them, the declarations merge; elsewhere they are objects with the
// member that is written here, in the same words.

declare global {
  interface GPUBuffer {}
  interface GPUDevice {}
  interface Worker {}
  interface AbortSignal {
    readonly aborted: boolean;
  }
  interface URL {
    href: string;
  }
  interface Response {
    readonly ok: boolean;
  }
  interface Blob {
    readonly size: number;
  }
  // biome-ignore lint/suspicious/noExplicitAny: the libraries' own default, which declarations must share to merge.
  interface ReadableStream<R = any> {
    readonly locked: boolean;
  }
  namespace WebAssembly {
    interface Module {}
  }
}

export type AnyGpuBuffer = GPUBuffer;
export type AnyGpuDevice = GPUDevice;
export type AnyWorker = Worker;
export type AnyModule = WebAssembly.Module;
