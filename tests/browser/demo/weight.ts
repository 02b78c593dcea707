// What a page takes from its host.

import { brotliCompressSync, constants } from "node:zlib";

/** As a host may do it on the fly; the best quality takes seconds a file. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Bytes of all files at these addresses, each compressed. */
export async function weightOf(addresses: Iterable<string>): Promise<number> {
  const files = Array.from(addresses).filter((address) => address.startsWith("http"));
  const sizes = files.map(
    async (address) => brotliCompressSync(Buffer.from(await (await fetch(address)).arrayBuffer()), FAST).length,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
