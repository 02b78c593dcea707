// Chromium's flags for WebGPU on the processor, by SwiftShader: it is the same adapter on every machine.

/** SwiftShader needs the flags for Vulkan and ANGLE as well. */
export const SOFTWARE_GPU = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--use-angle=swiftshader",
  "--use-vulkan=swiftshader",
];
