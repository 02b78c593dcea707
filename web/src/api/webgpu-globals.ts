// WebGPU's classes by name, for users whose compiler knows them: declarations merge. Others see objects.

declare global {
  interface GPUBuffer {}
  interface GPUDevice {}
}

export type AnyGpuBuffer = GPUBuffer;
export type AnyGpuDevice = GPUDevice;
