import titles from './ja/titles.json';
import type { ServiceTexts } from './texts.ts';

/** What the canvas and lists show of node types: their titles. */
export const titlesJa: ServiceTexts = {
  nodes: titles,
  choices: {},
  synonyms: {},
  withValue: (word) => word,
};
