/**
 * What every recipe takes.
 *
 * @typedef {object} RecipeOptions
 * @property {number} [seed] the same seed gives the same model, bit for bit
 * @property {number} [steps]
 * @property {AbortSignal} [signal] rejects when it aborts
 * @property {(report: { step: number, loss: number }) => void} [onStep] is called after each step
 * @property {import("heed").Heed} [engine]
 */

export {};
