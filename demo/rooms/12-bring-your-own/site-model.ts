// The files of all-MiniLM-L6-v2, where whoever serves this site has put them. Nothing is loaded before somebody asks for it.

import { FileTrouble } from "./arrays.js";

const FOLDER = "./models/all-MiniLM-L6-v2/";

/** Throws FileTrouble where the site lacks them. */
export async function siteModel(): Promise<File[]> {
  const files: File[] = [];
  for (const name of ["config.json", "tokenizer.json", "model.safetensors"]) {
    const answer = await fetch(new URL(FOLDER + name, document.baseURI));
    const isPage = answer.headers.get("content-type")?.includes("html") === true;
    if (!answer.ok || isPage) {
      throw new FileTrouble(
        `This site has no ${name} of all-MiniLM-L6-v2. Drop its config.json, tokenizer.json and model.safetensors here: they stay on this device.`,
      );
    }
    files.push(new File([await answer.blob()], name));
  }
  return files;
}
