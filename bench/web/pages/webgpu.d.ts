// As much of WebGPU as the bench's pages call: TypeScript's own declarations have none of it.

interface GPUBuffer {
  readonly size: number;
  destroy(): void;
}

interface GPUComputePass {
  setPipeline(pipeline: GPUComputePipeline): void;
  setBindGroup(index: number, group: object | null): void;
  dispatchWorkgroups(count: number): void;
  end(): void;
}

interface GPUComputePipeline {
  getBindGroupLayout(index: number): object;
}

interface GPUDevice {
  readonly queue: {
    writeBuffer(buffer: GPUBuffer, offset: number, data: ArrayBufferView): void;
    submit(commands: readonly object[]): void;
    onSubmittedWorkDone(): Promise<void>;
  };
  createBuffer(descriptor: { readonly size: number; readonly usage: number }): GPUBuffer;
  createShaderModule(descriptor: { readonly code: string }): object;
  createComputePipelineAsync(descriptor: object): Promise<GPUComputePipeline>;
  createBindGroup(descriptor: object): object;
  createCommandEncoder(): { beginComputePass(): GPUComputePass; finish(): object };
}

interface GPUAdapter {
  readonly limits: { readonly maxBufferSize: number; readonly maxStorageBufferBindingSize: number };
  requestDevice(descriptor: { readonly requiredLimits?: Readonly<Record<string, number>> }): Promise<GPUDevice>;
}

interface Navigator {
  readonly gpu: { requestAdapter(options: { readonly powerPreference: string }): Promise<GPUAdapter | null> };
}

declare const GPUBufferUsage: { readonly COPY_DST: number; readonly UNIFORM: number; readonly STORAGE: number };
