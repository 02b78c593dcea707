// The files of a brought model, as they come: all at once, or one after the other.

/** A file by its path, which begins at a folder where one was brought. */
export interface BroughtFile {
  readonly path: string;
  readonly file: File;
}

/** By the names under which models are published, and the folders of these. */
export type ModelFiles = ReadonlyMap<string, File>;

const WEIGHTS = "model.safetensors";
const isGguf = (path: string): boolean => /\.gguf$/i.test(path);
const isWeights = (path: string): boolean => path.endsWith(".safetensors");
const isShard = (path: string): boolean => /-\d+-of-\d+\.safetensors$/.test(path);
const isConfig = (path: string): boolean => /(?:^|\/)config\.json$/.test(path);
const isTokenizer = (path: string): boolean => /(?:^|\/)tokenizer\.json$/.test(path);

/** Nothing more is needed: `loadModel` reads them as they are. `forText`: a tokenizer is needed too. */
export const isWhole = (paths: readonly string[], forText = false): boolean =>
  paths.some(isGguf) || (paths.some(isConfig) && paths.some(isWeights) && (!forText || paths.some(isTokenizer)));

/** A whole model takes the place of another; a piece that of one of its kind. Parts of weights stand beside each other. */
export function withFiles(before: ModelFiles, found: readonly BroughtFile[]): ModelFiles {
  const paths = found.map(({ path }) => path);
  const stays = (path: string): boolean => {
    if (isWhole(paths) || isGguf(path)) return false;
    return !(isWeights(path) && paths.some(isWeights)) || (isShard(path) && paths.some(isShard));
  };
  const all = [...[...before].filter(([path]) => stays(path)), ...found.map(({ path, file }) => [path, file] as const)];
  const [one, other] = all.filter(([path]) => isWeights(path));
  const hasParts = other !== undefined || all.some(([path]) => path.endsWith(INDEX));
  const alone = hasParts || /\/|-\d+-of-\d+\./.test(one?.[0] ?? "") ? undefined : one;
  return new Map(all.map(([path, file]) => [path === alone?.[0] ? WEIGHTS : path, file]));
}

export const INDEX = `${WEIGHTS}.index.json`;

/** What is still to come. */
export function lacking(files: ModelFiles, forText = false): string {
  const paths = [...files.keys()];
  const parts = [
    ...(paths.some(isConfig) ? [] : ["config.json"]),
    ...(paths.some(isWeights) ? [] : [WEIGHTS]),
    ...(!forText || paths.some(isTokenizer) ? [] : ["tokenizer.json"]),
  ];
  return `A piece of a model. Now drop its ${parts.join(" and its ")}.`;
}

/** What to call it: its folder or its file. */
export function nameOf(files: ModelFiles): string | undefined {
  const [path = ""] = [...files.keys()]
    .filter((one) => isGguf(one) || isConfig(one))
    .sort((a, b) => a.length - b.length);
  const parts = path.split("/");
  return isGguf(path) ? parts.at(-1)?.slice(0, -".gguf".length) : parts.at(-2);
}
