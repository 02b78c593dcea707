// Files as a reader gives them: chosen, or dropped anywhere on the page, with those in folders.

import type { BroughtFile } from "./files.js";

/** Chosen files by their paths, which begin with the folder where one was chosen. */
export const pathsOf = async (files: readonly File[]): Promise<readonly BroughtFile[]> =>
  files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** Files may be dropped anywhere on the page. */
export function listenToDrops(dropped: (files: Promise<readonly BroughtFile[]>) => void): void {
  const { body } = document;
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    body.classList.add("dropping");
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    body.classList.remove("dropping");
    const { dataTransfer: transfer } = event;
    if (transfer === null || transfer.files.length === 0) return;
    event.preventDefault();
    dropped(filesIn(transfer));
  });
}

/** Files that were dropped, and those in folders. What was dropped is there only until the event ends. */
async function filesIn({ files, items }: DataTransfer): Promise<readonly BroughtFile[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry());
  if (!entries.some((entry) => entry?.isDirectory)) return pathsOf(Array.from(files));
  return (await Promise.all(entries.map((entry) => (entry === null ? [] : filesBelow(entry))))).flat();
}

async function filesBelow(entry: FileSystemEntry): Promise<readonly BroughtFile[]> {
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((found, failed) => entry.file(found, failed));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  if (!(entry instanceof FileSystemDirectoryEntry)) return [];
  const reader = entry.createReader();
  const inside: BroughtFile[] = [];
  // A folder is read in parts, of which the last is empty.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((found, failed) => reader.readEntries(found, failed));
    if (part.length === 0) return inside;
    for (const one of part) inside.push(...(await filesBelow(one)));
  }
}
