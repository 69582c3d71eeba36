import { apiErrorsJa, apiSentencesJa } from './api-errors.ja.ts';
import { choicesJa } from './choices.ja.ts';
import { flowSentencesJa, partsJa } from './flow-sentences.ja.ts';
import { nodePartsJa, nodeSentencesJa } from './node-sentences.ja.ts';
import { nodesAiJa } from './nodes-ai.ja.ts';
import { nodesDataJa } from './nodes-data.ja.ts';
import { nodesLogicJa } from './nodes-logic.ja.ts';
import { nodesOutsideJa } from './nodes-outside.ja.ts';
import { nodesStartJa } from './nodes-start.ja.ts';
import { runSentencesJa } from './run-sentences.ja.ts';
import { serviceSentencesJa } from './service-sentences.ja.ts';
import { templatesJa } from './templates.ja.ts';
import type { ServiceTexts } from './texts.ts';

/** What the service says, in Japanese. */
export const serviceJa: ServiceTexts = {
  nodes: { ...nodesStartJa, ...nodesLogicJa, ...nodesDataJa, ...nodesOutsideJa, ...nodesAiJa },
  choices: choicesJa,
  errors: apiErrorsJa,
  sentences: {
    ...flowSentencesJa,
    ...apiSentencesJa,
    ...runSentencesJa,
    ...serviceSentencesJa,
    ...nodeSentencesJa,
  },
  parts: { ...partsJa, ...nodePartsJa },
  templates: templatesJa,
  about: (name, sentence) => `${name}は${sentence}`,
  atNode: (label, sentence) => `${label}: ${sentence}`,
  atCharacter: (at, sentence) => `${sentence}（${at} 文字目）`,
  withValue: (word, value) => `${word}（${value}）`,
  quote: (name) => `「${name}」`,
};
