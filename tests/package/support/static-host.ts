// A stranger's pages without a bundler, and the package's files beside them, on as many sites as a test asks for.

import { writeFile } from "node:fs/promises";
import { Consumer } from "./consumer.js";
import { type Headers, type Site, serve, type Types } from "./server.js";

export class StaticHost {
  readonly consumer: Consumer;
  #sites: Site[] = [];

  private constructor(consumer: Consumer) {
    this.consumer = consumer;
  }

  static async make(name: string): Promise<StaticHost> {
    const consumer = await Consumer.make(name, "static");
    await consumer.add("page/compute.js", "compute.js");
    await consumer.add("page/main.js", "main.js");
    return new StaticHost(consumer);
  }

  async addPage(name: string, body: string): Promise<void> {
    await writeFile(this.consumer.path(`${name}.html`), `<!doctype html>\n<title>${name}</title>\n${body}`);
  }

  /** The pages, the package's files under /heed/, and a copy of its assets under /copy/. */
  async serve(headers: Headers = {}, types: Types = {}): Promise<Site> {
    const dist = this.consumer.path("node_modules/heed/dist");
    const site = await serve({ "/": this.consumer.folder, "/heed/": dist, "/copy/": `${dist}/assets` }, headers, types);
    this.#sites.push(site);
    return site;
  }

  /** Of all sites. */
  close(): void {
    for (const site of this.#sites.splice(0)) site.close();
  }
}

/** The page that computes with the module, and the override, that its address names. */
export const pageOf = (site: Site, query: { readonly module?: string; readonly override?: string } = {}): string =>
  `${site.address}?${new URLSearchParams(query)}`;
