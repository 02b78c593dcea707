// The three cabinets: who is asked for, what stands on the drawers, what lies in them. All numbers are set by hand, none are learned.

import { type Matrix, singleRows } from "../../src/model/matrix.js";

export const EXAMPLES = ["students", "salary", "movies"] as const;
export type ExampleName = (typeof EXAMPLES)[number];

export const SCORES = ["dot", "cosine", "rbf"] as const;
export type ScoreName = (typeof SCORES)[number];

export type Role = "q" | "k" | "v";

export interface Example {
  readonly title: string;
  readonly queries: readonly string[];
  /** Names of the drawers; none: their keys. */
  readonly keys: readonly string[];
  /** What a query and a key are compared by. */
  readonly features: readonly string[];
  /** Columns of the values. */
  readonly contents: readonly string[];
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly score: ScoreName;
  readonly temperature: number;
  readonly bandwidth: number;
}

const MAJORS = ["psychology", "law", "statistics", "engineering", "literature", "design"];

const STUDENTS = [
  { name: "John Doe", card: [3, 1, 1, 0], major: "psychology" },
  { name: "Sam Coe", card: [3, 2, 3, 0], major: "law" },
  { name: "Jane Roe", card: [1, 3, 0, 1], major: "statistics" },
  { name: "Ada Moe", card: [0, 3, 1, 3], major: "engineering" },
  { name: "Max Poe", card: [1, 0, 3, 1], major: "literature" },
  { name: "Mia Noe", card: [2, 0, 1, 3], major: "design" },
  { name: "Ann Loe", card: [2, 0, 0, 1], major: "psychology" },
];

/** Graduates: a GPA each, and a salary. */
const GRADES = [2, 2.3, 2.5, 2.7, 2.9, 3, 3.2, 3.4, 3.5, 3.6, 3.8, 4];
const SALARIES = [46, 52, 49, 55, 61, 57, 66, 68, 74, 70, 81, 78];

const TASTES = ["action", "romance", "laughs"];

const MOVIES = singleRows([1, -0.5, -0.2], [-0.4, 0.5, -0.1], [0.9, 0.9, 0.9], [-0.2, 0.6, 0.8], [-0.9, -0.2, -0.6]);

export const CABINETS: Readonly<Record<ExampleName, Example>> = {
  students: {
    title: "Students and majors",
    queries: ["you ask"],
    keys: STUDENTS.map(({ name }) => name),
    features: ["people", "numbers", "words", "making"],
    contents: MAJORS,
    q: singleRows([3, 1, 1, 0]),
    k: singleRows(...STUDENTS.map(({ card }) => card)),
    v: singleRows(...STUDENTS.map(({ major }) => MAJORS.map((name) => (name === major ? 1 : 0)))),
    score: "cosine",
    temperature: 0.1,
    bandwidth: 1,
  },
  salary: {
    title: "Grades and salaries",
    queries: ["you ask"],
    keys: [],
    features: ["GPA"],
    contents: ["salary"],
    q: singleRows([3.3]),
    k: singleRows(...GRADES.map((grade) => [grade])),
    v: singleRows(...SALARIES.map((salary) => [salary])),
    score: "rbf",
    temperature: 1,
    bandwidth: 0.15,
  },
  movies: {
    title: "Tastes and movies",
    queries: ["Ann", "Ben", "Cleo", "Dev"],
    keys: ["Long Chase", "Quiet Letters", "All at Once", "Two Left Feet", "Still Water"],
    features: TASTES,
    contents: TASTES,
    q: singleRows([-0.8, 0.6, 0.3], [0.9, -0.4, 0.2], [0.2, 0.3, 0.9], [-0.5, -0.6, -0.1]),
    k: MOVIES,
    v: MOVIES,
    score: "dot",
    temperature: 0.3,
    bandwidth: 0.5,
  },
};
