// The three tasks, the word that each is watched on, and the letters of the answer.

export const TASKS = ["copy", "reverse", "sort"] as const;
export type Task = (typeof TASKS)[number];

export const LETTERS = 8;

export const WORDS: Readonly<Record<Task, string>> = { copy: "keyboard", reverse: "stressed", sort: "sandwich" };

export function answerOf(task: Task): string {
  const letters = Array.from(WORDS[task]);
  if (task === "reverse") letters.reverse();
  if (task === "sort") letters.sort();
  return letters.join("");
}
