// The largest number and the sum of eight threads, on the software adapter, whose subgroups are too small for eight.

import { expect, test } from "vitest";
import { testDevice } from "../support/gpu-device.js";
import { runLanes } from "../support/lanes.js";

test.each([32, 64, 128])(
  "of %i threads each eight find their maximum and sum, with subgroups of four and without",
  async (threads) => {
    const { device, uncaptured } = await testDevice();
    for (const subgroups of [true, false]) {
      expect(await runLanes(device, threads, subgroups)).toEqual({ byLanes: false, wrong: [] });
    }
    expect(uncaptured).toEqual([]);
    device.destroy();
  },
);
