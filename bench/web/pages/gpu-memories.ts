// Counts the bytes of the GPU buffers that exist in this page, whoever made them. Imported before anything that could make one.

let bytes = 0;
let most = 0;

if ("GPUDevice" in window) {
  const create = GPUDevice.prototype.createBuffer;
  GPUDevice.prototype.createBuffer = function (descriptor) {
    const buffer = create.call(this, descriptor);
    bytes += buffer.size;
    most = Math.max(most, bytes);
    return buffer;
  };
  const destroy = GPUBuffer.prototype.destroy;
  const destroyed = new WeakSet<GPUBuffer>();
  GPUBuffer.prototype.destroy = function () {
    if (!destroyed.has(this)) bytes -= this.size;
    destroyed.add(this);
    destroy.call(this);
  };
}

/** The most that there ever were at a time. */
export function mostGpuBytes(): number {
  return most;
}
