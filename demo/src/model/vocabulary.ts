// The hand-made meanings: sixteen named properties, and the words that have them. Made up, not learned; the page says so.

/** In order of importance, so that a narrower X keeps the most telling ones. */
export const FEATURES = [
  "thing",
  "alive",
  "points",
  "acts",
  "tells",
  "body",
  "place",
  "glue",
  "joins",
  "moves",
  "gives",
  "she/he",
  "food",
  "good",
  "not",
  "many",
] as const;

export const FEATURE_MEANING: Readonly<Record<(typeof FEATURES)[number], string>> = {
  thing: "names a thing",
  alive: "is alive (below zero: lifeless)",
  points: "stands for something else",
  acts: "is something one does",
  tells: "says how something is",
  body: "has to do with a body and its feelings",
  place: "has to do with places and their extent",
  glue: "is a small word that holds the sentence together",
  joins: "joins two statements",
  moves: "has to do with motion",
  gives: "has to do with giving",
  "she/he": "is female (above zero) or male (below)",
  food: "has to do with eating",
  good: "is pleasant (below zero: unpleasant)",
  not: "turns a statement round",
  many: "is more than one",
};

const CLASSES = {
  animal: "thing 1 alive 1 body .8 moves .4",
  person: "thing .9 alive 1 body .7",
  place: "thing 1 alive -.4 place 1",
  object: "thing 1 alive -.3",
  food: "thing .9 alive -.2 food 1 good .3",
  pronoun: "points 1",
  act: "acts 1",
  motion: "acts 1 moves .9",
  giving: "acts 1 gives 1",
  eating: "acts 1 food .7 body .3",
  feeling: "tells 1 body 1",
  extent: "tells 1 place 1",
  quality: "tells 1",
  glue: "glue 1",
  join: "glue .6 joins 1",
} as const;

const MEMBERS: Readonly<Record<keyof typeof CLASSES, string>> = {
  animal: "animal cat dog bird horse mouse fish fox bear wolf cow rabbit owl bee",
  person:
    "man woman boy girl child people student teacher friend doctor robot king queen susan mary john alice bob owner",
  place: "road street house home park city school river mountain forest sea room garden bridge kitchen world field",
  object:
    "mat ball book car tree trophy suitcase key door table letter roses rose flower tail word sentence bench box sun moon",
  food: "apple bread cheese cake soup milk honey pizza tea coffee",
  pronoun: "it he she they him her them i we you who this that which his its their",
  act: "sat is saw see sees reads read wrote write thought knows think loves likes love heeds heed looks look asked fits fit was were",
  motion: "cross crossed ran run runs walked walk went go goes jumped jump jumps flew swam chased wagged",
  giving: "gave give gives sent took brought handed",
  eating: "ate eat eats drank cooked",
  feeling: "tired hungry happy sad angry afraid sleepy lazy quick brown old young sick thirsty",
  extent: "wide long narrow big small large deep high far near busy",
  quality: "red blue green new good bad cold warm beautiful slow loud heavy quiet",
  glue: "the a an to of in on at over for with by too very so as into under , . ; : ! ? - ( ) [pad]",
  join: "because and but when while or if then since",
};

const EXTRA: Readonly<Record<string, string>> = {
  it: "points 1",
  was: "acts .3 glue .8",
  were: "acts .3 glue .8 many .5",
  is: "acts .3 glue .8",
  "didn't": "not 1 glue .6",
  not: "not 1 glue .6",
  never: "not 1 glue .6",
  no: "not 1 glue .6",
  "[pad]": "",
};

const TOUCHES: Readonly<Record<string, string>> = {
  she: "she/he 1",
  her: "she/he 1",
  he: "she/he -1",
  him: "she/he -1",
  his: "she/he -1",
  susan: "she/he 1",
  mary: "she/he 1",
  alice: "she/he 1",
  woman: "she/he 1",
  girl: "she/he 1",
  queen: "she/he 1",
  john: "she/he -1",
  bob: "she/he -1",
  man: "she/he -1",
  boy: "she/he -1",
  king: "she/he -1",
  they: "many 1",
  them: "many 1",
  we: "many 1",
  people: "many 1",
  roses: "many 1 good .6 gives .5",
  flower: "good .5",
  happy: "good 1",
  good: "good 1",
  beautiful: "good .8",
  sad: "good -1",
  angry: "good -.8",
  bad: "good -1",
  tired: "good -.3",
  hungry: "food .8",
  loves: "good .8",
  love: "good .8",
  likes: "good .5",
  owner: "gives .3",
};

type Meaning = Readonly<Record<string, number>>;

function readMeaning(...lines: readonly string[]): Meaning {
  const meaning: Record<string, number> = {};
  const parts = lines.join(" ").split(" ").filter(Boolean);
  for (let i = 0; i + 1 < parts.length; i += 2) meaning[parts[i] ?? ""] = Number(parts[i + 1]);
  return meaning;
}

function readTable(): ReadonlyMap<string, Meaning> {
  const table = new Map<string, Meaning>();
  for (const [kind, line] of Object.entries(CLASSES)) {
    for (const word of (Object.entries(MEMBERS).find(([name]) => name === kind)?.[1] ?? "").split(" ")) {
      table.set(word, readMeaning(EXTRA[word] ?? line, TOUCHES[word] ?? ""));
    }
  }
  for (const [word, line] of Object.entries(EXTRA)) table.set(word, readMeaning(line, TOUCHES[word] ?? ""));
  return table;
}

const TABLE = readTable();

/** Signs are no words. */
export const WORDS_KNOWN = Array.from(TABLE.keys()).filter((word) => /^\p{L}/u.test(word)).length;

/** The properties set by hand for this word, or undefined. */
export function meaningOf(word: string): Meaning | undefined {
  return TABLE.get(word.toLowerCase().replace("’", "'"));
}
