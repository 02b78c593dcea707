// How Chromium is started to run WebGPU on the processor, with SwiftShader: the same adapter on every machine.

/** The pair of flags for Vulkan and ANGLE is its recipe. */
export const SOFTWARE_GPU = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--use-angle=swiftshader",
  "--use-vulkan=swiftshader",
];
