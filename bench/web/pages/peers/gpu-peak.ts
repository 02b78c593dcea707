// The GPU's peak or read bandwidth: multiply-adds between registers, or reads of consecutive numbers.

import type { Peak, Problem, Setup } from "../peer.js";

const THREADS = 4096;
const WORKGROUP = 64;

interface Loop {
  /** The body of a thread's loop, which accumulates into x0 and x1. */
  readonly body: string;
  /** Floating-point operations, or bytes, of one iteration of all threads. */
  readonly work: number;
}

/** Accumulators: as many vectors as a processor has registers for. */
const ACCUMULATORS = 2;
/** Statements an iteration. */
const TIMES = 16;

const repeated = (text: (n: number) => string): string => Array.from({ length: TIMES }, (_, n) => text(n)).join("\n");

const LOOPS: Readonly<Record<string, Loop>> = {
  chain: {
    body: repeated((n) => `x${n % ACCUMULATORS} = x${n % ACCUMULATORS} * factor + x${n % ACCUMULATORS};`),
    work: THREADS * TIMES * 4 * 2,
  },
  read: {
    body: `let at = (iteration * ${THREADS * TIMES}u) % (arrayLength(&numbers) - ${THREADS * (TIMES - 1)}u) + thread;
    ${repeated((n) => `x${n % ACCUMULATORS}.x += numbers[at + ${n * THREADS}u];`)}`,
    work: THREADS * TIMES * 4,
  },
};

const shaderOf = ({ body }: Loop): string => `
@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(2) var<uniform> iterations: u32;
@compute @workgroup_size(${WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3u) {
  let thread = id.x;
  let factor = vec4f(numbers[thread]);
  var x0 = factor;
  var x1 = factor;
  for (var iteration = 0u; iteration < iterations; iteration++) {
    ${body}
  }
  out[thread] = x0 + x1;
}`;

/** A sample is long compared with a round trip to the GPU. */
const SAMPLE_MS = 60;

export async function open({ options }: Setup): Promise<Peak> {
  const loop = LOOPS[options.loop ?? ""];
  if (loop === undefined) throw new Error(`no loop is called ${options.loop}`);
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) throw new Error("no GPU adapter was found");
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
  const module = device.createShaderModule({ code: shaderOf(loop) });
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
  const uniform = device.createBuffer({ size: 16, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  const out = device.createBuffer({ size: THREADS * 16, usage: GPUBufferUsage.STORAGE });
  let numbers: GPUBuffer | null = null;
  let bindings: object | null = null;
  let iterations = 1;

  const run = async (): Promise<number> => {
    const start = performance.now();
    device.queue.writeBuffer(uniform, 0, Uint32Array.of(iterations));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindings);
    pass.dispatchWorkgroups(THREADS / WORKGROUP);
    pass.end();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    return performance.now() - start;
  };

  return {
    about: { loop: options.loop },
    async prepare({ kvHeads, keys, dim }: Problem) {
      numbers?.destroy();
      const bytes = 4 * 2 * kvHeads * keys * dim;
      numbers = device.createBuffer({ size: Math.max(bytes, THREADS * TIMES * 4), usage: GPUBufferUsage.STORAGE });
      const buffers = [numbers, out, uniform].map((buffer, binding) => ({ binding, resource: { buffer } }));
      bindings = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: buffers });
      await run();
      for (iterations = 1; (await run()) < SAMPLE_MS; ) iterations *= 2;
    },
    async rate() {
      const ms = await run();
      return (iterations * loop.work * 1000) / ms;
    },
  };
}
