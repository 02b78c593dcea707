// Runs shaders/lanes.wgsl alone on a device: how its threads are numbered, and what eight of them find together. Needs no test runner.

import { COMPUTE, type GpuDevice, MAP_READ, USAGE } from "../../web/src/backends/webgpu/gpu.js";
import { laneParts } from "../../web/src/backends/webgpu/shaders/attention.js";
import { enabled } from "../../web/src/backends/webgpu/shaders/common.js";
import { compose } from "../../web/src/backends/webgpu/shaders/compose.js";
import { SHARING } from "../../web/src/backends/webgpu/shaders/sizes.js";

export interface Lanes {
  /** Eights met by subgroup operations, and not through workgroup memory. */
  readonly byLanes: boolean;
  readonly wrong: readonly string[];
}

/** Writes four numbers of each thread, by its index in the workgroup. */
const PROGRAM = `override THREADS: u32;
@group(0) @binding(0) var<storage, read_write> found: array<vec4f>;
var<workgroup> staged: array<vec4f, THREADS>;
fn number_of(thread: u32) -> f32 { return f32((thread * 37u) % 101u); }
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, local: Local) {
  let numbered = number_lanes(local);
  let by_lanes = are_lanes_numbered(local);
  let thread = select(local.index, numbered, by_lanes);
  let own = vec4f(number_of(thread));
  let most = eight_max(own, thread, by_lanes);
  let sum = eight_sum(own, thread, by_lanes);
  found[group.x * THREADS + local.index] = vec4f(f32(thread), select(0.0, 1.0, by_lanes), most.y, sum.z);
}`;

function shader(threads: number, subgroups: boolean): string {
  const { files, constants } = laneParts(subgroups);
  const code = compose([...files, PROGRAM], { ...constants, THREADS: threads });
  return `${enabled(code, [])}${code}`;
}

const GROUPS = 5;

export async function runLanes(device: GpuDevice, threads: number, subgroups: boolean): Promise<Lanes> {
  const module = device.createShaderModule({ code: shader(threads, subgroups) });
  const bound = [{ binding: 0, visibility: COMPUTE, buffer: { type: "storage" } }];
  const group = device.createBindGroupLayout({ entries: bound });
  const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
  const pipeline = await device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main" } });
  const size = GROUPS * threads * 16;
  const buffer = device.createBuffer({ size, usage: USAGE.STORAGE | USAGE.COPY_SRC });
  const staging = device.createBuffer({ size, usage: USAGE.MAP_READ | USAGE.COPY_DST });
  const entries = [{ binding: 0, resource: { buffer } }];
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: group, entries }));
  pass.dispatchWorkgroups(GROUPS);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(MAP_READ);
  const found = new Float32Array(staging.getMappedRange().slice(0));
  for (const one of [buffer, staging]) one.destroy();
  return { byLanes: found[1] === 1, wrong: mistakes(found, threads) };
}

function mistakes(found: Float32Array, threads: number): readonly string[] {
  const wrong: string[] = [];
  for (let group = 0; group < GROUPS; group++) {
    const numbers = Array.from({ length: threads }, (_, n) => (n * 37) % 101);
    const seen = new Set<number>();
    for (let local = 0; local < threads; local++) {
      const at = (group * threads + local) * 4;
      const [thread = -1, byLanes, most, sum] = found.subarray(at, at + 4);
      seen.add(thread);
      const first = thread - (thread % SHARING);
      const eight = numbers.slice(first, first + SHARING);
      const wanted = [found[1], Math.max(...eight), eight.reduce((total, one) => total + one, 0)];
      if (`${[byLanes, most, sum]}` !== `${wanted}`)
        wrong.push(`${threads} threads: ${[byLanes, most, sum]}, not ${wanted}`);
    }
    if (seen.size !== threads || Math.max(...seen) >= threads)
      wrong.push(`${threads} threads have ${seen.size} numbers`);
  }
  return wrong;
}
