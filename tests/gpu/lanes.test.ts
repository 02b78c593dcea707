// Eight threads that find something together, on the software adapter, whose subgroups are too small for them.

import { expect, test } from "vitest";
import { testDevice } from "../support/gpu-device.js";
import { lanesOf } from "../support/lanes.js";

test.each([32, 64, 128])(
  "%i threads find what eight of them have, with subgroups of four and without",
  async (threads) => {
    const { device, uncaptured } = await testDevice();
    for (const subgroups of [true, false]) {
      expect(await lanesOf(device, threads, subgroups)).toEqual({ byLanes: false, wrong: [] });
    }
    expect(uncaptured).toEqual([]);
    device.destroy();
  },
);
