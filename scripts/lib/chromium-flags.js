// How Chromium is started where there may be no sandbox and no GPU.

/** As root, Chromium has no sandbox. */
export const rootless = () => (process.getuid?.() === 0 ? ["--no-sandbox"] : []);

/** WebGPU on Chromium's own software adapter: the same on every machine. The pair of flags for Vulkan and ANGLE is its recipe. */
export const SOFTWARE_GPU = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--use-angle=swiftshader",
  "--use-vulkan=swiftshader",
];
