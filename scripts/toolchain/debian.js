// Downloads and unpacks Debian packages into a private folder, as any user, by a private apt tree: the system's own lists,
// packages and libraries stay untouched. The caller chooses the packages and uses them.

import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Failure, run, step } from "../lib/steps.js";
import { megabytes, requireSpace } from "./cache.js";
import { architecture, system } from "./system.js";
import { DEBIAN_SUITE } from "./versions.js";

const KEYRINGS = ["gpg", "pgp"].map((type) => `/usr/share/keyrings/debian-archive-keyring.${type}`);

/** Programs parse apt's output, so it has to be in English. */
const ENGLISH = { ...process.env, LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };

/** @typedef {{ packages: string[], downloadBytes: number, unpackedBytes: number }} Closure */

/** Why this machine cannot fill a private folder, or undefined when it can. */
export async function whyNoDebian() {
  const os = system();
  if (!os.isDebianLike) return `${os.name} is not Debian or Ubuntu`;
  if (architecture() === undefined) return `there is no recipe for the ${process.arch} processor`;
  const obstacles = [];
  if (!KEYRINGS.some((file) => existsSync(file))) {
    obstacles.push("Debian's signing keys are missing (install the package debian-archive-keyring)");
  }
  if ((await mirror()) === undefined) {
    obstacles.push("apt knows no Debian mirror (set HEED_DEBIAN_MIRROR to the address of one; it ends in /debian/)");
  }
  return obstacles.length === 0 ? undefined : obstacles.join(", and ");
}

/**
 * Finds the Debian mirror of the system's own apt by the index files that an update would fetch: that also works where
 * there was no update yet, as in a fresh container.
 * @returns {Promise<string | undefined>}
 */
async function mirror() {
  const { HEED_DEBIAN_MIRROR } = process.env;
  if (HEED_DEBIAN_MIRROR) return HEED_DEBIAN_MIRROR;
  const os = system();
  if (os.id !== "debian") return undefined;
  const { stdout } = await run("apt-get", ["update", "--print-uris"], { env: ENGLISH });
  const suites = new Set([os.codename, "stable", "oldstable", "testing", "unstable", "sid"]);
  for (const [, address = "", suite = ""] of stdout.matchAll(/^'(\S+\/)dists\/([^/]+)\/main\/binary-[^']*'/gm)) {
    if (suites.has(suite)) return address;
  }
  return undefined;
}

/** A private apt: its folder holds everything that it reads and writes. */
export class PrivateApt {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
    this.config = join(folder, "apt.conf");
    this.downloads = join(folder, "downloads");
  }

  /**
   * Sets the tree up and fetches the suite's index.
   * @param {string} folder
   * @param {Record<string, string>} stubs packages that apt is to believe installed, with their versions
   */
  static async open(folder, stubs) {
    const apt = new PrivateApt(folder);
    const address = await mirror();
    const keyring = KEYRINGS.find((file) => existsSync(file));
    await mkdir(join(folder, "lists/partial"), { recursive: true });
    // This is for the index alone; the packages are counted exactly afterwards.
    await requireSpace(folder, 150e6);
    await mkdir(join(folder, "cache/archives/partial"), { recursive: true });
    await mkdir(apt.downloads);
    await writeFile(
      join(folder, "sources.list"),
      ["deb", "deb-src"].map((type) => `${type} [signed-by=${keyring}] ${address} ${DEBIAN_SUITE} main\n`).join(""),
    );
    await writeFile(
      join(folder, "status"),
      Object.entries(stubs)
        .map(([name, version]) =>
          [
            `Package: ${name}`,
            "Status: install ok installed",
            `Version: ${version}`,
            `Architecture: ${architecture()?.debian}`,
            "Multi-Arch: allowed",
            "Maintainer: heed",
            "Description: believed installed",
            "",
            "",
          ].join("\n"),
        )
        .join(""),
    );
    await writeFile(
      apt.config,
      [
        `Dir::Etc::sourcelist "${folder}/sources.list";`,
        'Dir::Etc::sourceparts "-";',
        `Dir::State::Lists "${folder}/lists";`,
        `Dir::State::status "${folder}/status";`,
        `Dir::Cache "${folder}/cache";`,
        // The sandbox user could not write here, and there is nothing of the system's to protect.
        'APT::Sandbox::User "";',
        'APT::Install-Recommends "false";',
        'Acquire::Languages "none";',
        'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";',
        'Acquire::Retries "3";',
        'Acquire::http::Timeout "30";',
        'Acquire::https::Timeout "30";',
        // The system's hooks clean the system's caches.
        "#clear APT::Update::Post-Invoke;",
        "#clear APT::Update::Post-Invoke-Success;",
        "",
      ].join("\n"),
    );
    await step(`fetch the package index of Debian ${DEBIAN_SUITE}`, () => apt.#online(["update", "--error-on=any"]));
    return apt;
  }

  /** What installing these packages would bring. @param {readonly string[]} names @returns {Promise<Closure>} */
  async closure(names) {
    const { stdout } = await this.#apt("apt-get", ["install", "-y", "--download-only", "--print-uris", ...names]);
    const packages = [];
    let downloadBytes = 0;
    for (const [, file = "", size] of stdout.matchAll(/^'[^']+' (\S+) (\d+)/gm)) {
      const [name, version] = file.split("_");
      packages.push(`${name}=${decodeURIComponent(version ?? "")}`);
      downloadBytes += Number(size);
    }
    const shown = await this.#apt("apt-cache", ["show", "--no-all-versions", ...packages]);
    let unpackedBytes = 0;
    for (const [, kilobytes] of shown.stdout.matchAll(/^Installed-Size: (\d+)/gm))
      unpackedBytes += Number(kilobytes) * 1024;
    return { packages, downloadBytes, unpackedBytes };
  }

  /**
   * Downloads the packages and unpacks them into one folder, each removed as soon as it is unpacked.
   * @param {Closure} closure
   * @param {string} target
   */
  async unpack(closure, target) {
    // The tail is for file system blocks and for what moving the programs adds.
    await requireSpace(this.folder, (closure.downloadBytes + closure.unpackedBytes) * 1.1);
    await mkdir(target, { recursive: true });
    await step(`download ${closure.packages.length} packages (${megabytes(closure.downloadBytes)})`, () =>
      this.#online(["download", ...closure.packages]),
    );
    const files = (await readdir(this.downloads)).filter((name) => name.endsWith(".deb"));
    if (files.length !== closure.packages.length) {
      throw new Failure(`${closure.packages.length} packages were asked for and ${files.length} came`);
    }
    await step(`unpack them (${megabytes(closure.unpackedBytes)})`, async () => {
      // Largest first: the last one to finish should be a small one.
      const queue = await bySize(this.downloads, files);
      const worker = async () => {
        for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
          await run("dpkg-deb", ["-x", file, target]);
          await rm(file);
        }
      };
      await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
    });
    await linkRootToUsr(target);
  }

  /** Downloads the upstream archive of a source package. @param {string} name @returns {Promise<string>} the archive */
  async source(name) {
    await step(`download the source of ${name}`, () => this.#online(["source", "--download-only", name]));
    const [upstream, version] = name.split("=");
    const archive = (await readdir(this.downloads)).find(
      (file) => file.startsWith(`${upstream}_`) && file.includes(".orig.tar."),
    );
    if (archive === undefined)
      throw new Failure(`Debian's ${upstream} ${version ?? ""} came without an upstream archive`);
    return join(this.downloads, archive);
  }

  /** The newest version of a source package that begins so. @param {string} name @param {string} upstream */
  async sourceVersion(name, upstream) {
    const { stdout } = await this.#apt("apt-cache", ["showsrc", "--only-source", name]);
    const versions = [...stdout.matchAll(/^Version: (\S+)$/gm)].map(([, version = ""]) => version);
    const version = versions.find((candidate) => candidate.startsWith(`${upstream}-`));
    if (version === undefined)
      throw new Failure(`Debian ${DEBIAN_SUITE} has ${name} ${versions.join(", ")}, not ${upstream}`);
    return version;
  }

  /** @param {string} program @param {string[]} args */
  #apt(program, args) {
    return run(program, ["-c", this.config, ...args], { cwd: this.downloads, env: ENGLISH });
  }

  /** Calls apt-get with the network. @param {string[]} args */
  async #online(args) {
    try {
      return await this.#apt("apt-get", args);
    } catch (error) {
      if (
        !(error instanceof Failure) ||
        !/Failed to fetch|Unable to fetch|Could not resolve|Could not connect/.test(error.output)
      )
        throw error;
      throw new Failure(
        "the Debian mirror cannot be reached; apt says so above. Check the network and apt's proxy settings, then run this again.",
        {
          output: error.output,
          cause: error,
        },
      );
    }
  }
}

/** @param {string} folder @param {string[]} names */
async function bySize(folder, names) {
  const sized = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), size: (await stat(join(folder, name))).size })),
  );
  return sized.sort((a, b) => b.size - a.size).map(({ path }) => path);
}

/**
 * Makes the links at the root that an installation makes: Debian's packages own only usr/…, and a compiler with this
 * folder as its sysroot looks for them.
 * @param {string} target
 */
async function linkRootToUsr(target) {
  for (const name of ["bin", "lib", "lib64"]) {
    if (existsSync(join(target, "usr", name)) && !existsSync(join(target, name)))
      await symlink(`usr/${name}`, join(target, name));
  }
}
