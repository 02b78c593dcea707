// The part of WebGPU that heed uses, as types: the compiler's library has none, and the package depends on nothing.

export interface Gpu {
  requestAdapter(options?: { powerPreference?: "high-performance" | "low-power" }): Promise<GpuAdapter | null>;
}

export interface GpuAdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  readonly isFallbackAdapter?: boolean;
}

export interface GpuAdapter {
  readonly features: ReadonlySet<string>;
  readonly limits: GpuLimits;
  readonly info: GpuAdapterInfo;
  requestDevice(descriptor: {
    requiredFeatures: readonly string[];
    requiredLimits: Readonly<Record<string, number>>;
  }): Promise<GpuDevice>;
}

export interface GpuLimits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxStorageBuffersPerShaderStage: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupsPerDimension: number;
}

export interface GpuError {
  readonly message: string;
}

export interface GpuLostInfo {
  readonly reason?: string;
  readonly message: string;
}

export type ErrorFilter = "validation" | "out-of-memory" | "internal";

export interface GpuDevice {
  readonly features: ReadonlySet<string>;
  readonly limits: GpuLimits;
  readonly adapterInfo?: GpuAdapterInfo;
  readonly queue: GpuQueue;
  readonly lost: Promise<GpuLostInfo>;
  createBuffer(descriptor: { size: number; usage: number; label?: string }): GpuBuffer;
  createShaderModule(descriptor: { code: string; label?: string }): object;
  createBindGroupLayout(descriptor: { entries: readonly object[] }): object;
  createPipelineLayout(descriptor: { bindGroupLayouts: readonly object[] }): object;
  createComputePipelineAsync(descriptor: {
    layout: object;
    compute: { module: object; entryPoint: string };
  }): Promise<object>;
  createBindGroup(descriptor: { layout: object; entries: readonly BindingEntry[] }): object;
  createCommandEncoder(): GpuEncoder;
  pushErrorScope(filter: ErrorFilter): void;
  popErrorScope(): Promise<GpuError | null>;
  destroy(): void;
}

export interface BindingEntry {
  readonly binding: number;
  readonly resource: { readonly buffer: GpuBuffer; readonly offset?: number; readonly size?: number };
}

export interface GpuQueue {
  submit(commands: readonly object[]): void;
  writeBuffer(buffer: GpuBuffer, offset: number, data: ArrayBufferView<ArrayBuffer>): void;
}

export interface GpuBuffer {
  readonly size: number;
  readonly usage: number;
  mapAsync(mode: number): Promise<undefined>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

export interface GpuEncoder {
  beginComputePass(): GpuPass;
  copyBufferToBuffer(from: GpuBuffer, fromOffset: number, to: GpuBuffer, toOffset: number, size: number): void;
  clearBuffer(buffer: GpuBuffer): void;
  finish(): object;
}

export interface GpuPass {
  setPipeline(pipeline: object): void;
  setBindGroup(index: number, group: object): void;
  dispatchWorkgroups(x: number, y?: number): void;
  end(): void;
}

/** GPUBufferUsage, whose global is not in every runtime. */
export const USAGE = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 } as const;

/** GPUMapMode.READ */
export const MAP_READ = 1;

/** GPUShaderStage.COMPUTE */
export const COMPUTE = 4;
