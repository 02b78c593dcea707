// The page hands numbers to a worker of its own, which computes running means of them by attention.

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data: means }) => {
  document.querySelector("output").textContent = means.at(-1).toFixed(1);
};

const numbers = Float32Array.from({ length: 1000 }, (_, at) => at + 1);
worker.postMessage(numbers, [numbers.buffer]);
