// Counts the bytes of all GPU buffers that exist in this page. It is imported before any code that could create one.

interface Buffer {
  readonly size: number;
  destroy(): void;
}

interface Device {
  createBuffer(descriptor: object): Buffer;
}

let bytes = 0;
let most = 0;

const devices: { readonly prototype: Device } | undefined = Reflect.get(window, "GPUDevice");
const buffers: { readonly prototype: Buffer } | undefined = Reflect.get(window, "GPUBuffer");

if (devices !== undefined && buffers !== undefined) {
  const create = devices.prototype.createBuffer;
  devices.prototype.createBuffer = function (descriptor) {
    const buffer = create.call(this, descriptor);
    bytes += buffer.size;
    most = Math.max(most, bytes);
    return buffer;
  };
  const destroy = buffers.prototype.destroy;
  const destroyed = new WeakSet<Buffer>();
  buffers.prototype.destroy = function () {
    if (!destroyed.has(this)) bytes -= this.size;
    destroyed.add(this);
    destroy.call(this);
  };
}

/** The most bytes that existed at a time. */
export function mostGpuBytes(): number {
  return most;
}
