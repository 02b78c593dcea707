// What the GPU can do: multiplications and additions of numbers that a thread has, or reading what lies side by side.

import type { Ceiling, Problem, Setup } from "../peer.js";

const THREADS = 4096;
const WORKGROUP = 64;

interface Loop {
  /** Of the body of a thread's loop, from `x` on, which it changes. */
  readonly body: string;
  /** Floating-point operations, or bytes, of one turn of all threads. */
  readonly work: number;
}

/** As many vectors as a processor has registers for. */
const SUMS = 2;
/** Statements a turn. */
const TIMES = 16;

const repeated = (text: (n: number) => string): string => Array.from({ length: TIMES }, (_, n) => text(n)).join("\n");

const LOOPS: Readonly<Record<string, Loop>> = {
  chain: {
    body: repeated((n) => `x${n % SUMS} = x${n % SUMS} * factor + x${n % SUMS};`),
    work: THREADS * TIMES * 4 * 2,
  },
  read: {
    body: `let at = (turn * ${THREADS * TIMES}u) % (arrayLength(&numbers) - ${THREADS * (TIMES - 1)}u) + thread;
    ${repeated((n) => `x${n % SUMS}.x += numbers[at + ${n * THREADS}u];`)}`,
    work: THREADS * TIMES * 4,
  },
};

const shaderOf = ({ body }: Loop): string => `
@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(2) var<uniform> turns: u32;
@compute @workgroup_size(${WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3u) {
  let thread = id.x;
  let factor = vec4f(numbers[thread]);
  var x0 = factor;
  var x1 = factor;
  for (var turn = 0u; turn < turns; turn++) {
    ${body}
  }
  out[thread] = x0 + x1;
}`;

/** Long beside the way to the GPU and back. */
const SAMPLE_MS = 60;

export async function open({ options }: Setup): Promise<Ceiling> {
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
  let turns = 1;

  const run = async (): Promise<number> => {
    const start = performance.now();
    device.queue.writeBuffer(uniform, 0, Uint32Array.of(turns));
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
      for (turns = 1; (await run()) < SAMPLE_MS; ) turns *= 2;
    },
    async rate() {
      const ms = await run();
      return (turns * loop.work * 1000) / ms;
    },
  };
}
