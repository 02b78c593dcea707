// A GEMM of square matrices as WGSL is usually tuned: tiles of 64 x 64 in workgroup memory, a register tile of 4 x 4 a thread.
// Its rate is the peak that attention is compared with.

/** @param {number} n */
const shader = (n) => `
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
const WIDTH = ${n / 4}u;
var<workgroup> a_tile: array<f32, 1024>;
var<workgroup> b_tile: array<vec4f, 256>;
@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  var sums = array<vec4f, 4>();
  for (var t = 0u; t < ${n}u; t += 16u) {
    let row = thread / 4u;
    let column = thread % 4u;
    let loaded = a[(group.y * 64u + row) * WIDTH + t / 4u + column];
    for (var q = 0u; q < 4u; q++) { a_tile[(column * 4u + q) * 64u + row] = loaded[q]; }
    b_tile[thread] = b[(t + thread / 16u) * WIDTH + group.x * 16u + thread % 16u];
    workgroupBarrier();
    for (var k = 0u; k < 16u; k++) {
      let b_row = b_tile[k * 16u + at.x];
      for (var r = 0u; r < 4u; r++) { sums[r] = fma(vec4f(a_tile[k * 64u + at.y * 4u + r]), b_row, sums[r]); }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < 4u; r++) { c[(group.y * 64u + at.y * 4u + r) * WIDTH + group.x * 16u + at.x] = sums[r]; }
}`;

/** STORAGE */
const USAGE = 128;

/** GFLOP/s of the fastest repeat. @param {{ requestDevice(): Promise<any> }} adapter @param {number} n a multiple of 64 @param {number} repeats */
export async function matmulRate(adapter, n, repeats) {
  const device = await adapter.requestDevice();
  const module = device.createShaderModule({ code: shader(n) });
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
  const entries = [0, 1, 2].map((binding) => ({
    binding,
    resource: { buffer: device.createBuffer({ size: 4 * n * n, usage: USAGE }) },
  }));
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  let best = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat <= repeats; repeat++) {
    const start = performance.now();
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(n / 64, n / 64);
    pass.end();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    // The first repeat compiles.
    if (repeat > 0) best = Math.min(best, performance.now() - start);
  }
  device.destroy();
  return (2 * n ** 3) / best / 1e6;
}
