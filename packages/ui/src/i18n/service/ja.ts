import { flowSentencesJa, partsJa } from './flow-sentences.ja.ts';
import choices from './ja/choices.json';
import nodesAi from './ja/nodes-ai.json';
import nodesData from './ja/nodes-data.json';
import nodesLogic from './ja/nodes-logic.json';
import nodesOutside from './ja/nodes-outside.json';
import nodesStart from './ja/nodes-start.json';
import templates from './ja/templates.json';
import { nodePartsJa, nodeSentencesJa } from './node-sentences.ja.ts';
import { runSentencesJa } from './run-sentences.ja.ts';
import { serviceSentencesJa } from './service-sentences.ja.ts';
import type { ServiceTexts } from './texts.ts';

/** What the service says, in Japanese. */
export const serviceJa: ServiceTexts = {
  nodes: { ...nodesStart, ...nodesLogic, ...nodesData, ...nodesOutside, ...nodesAi },
  choices,
  sentences: {
    ...flowSentencesJa,
    ...runSentencesJa,
    ...serviceSentencesJa,
    ...nodeSentencesJa,
  },
  parts: { ...partsJa, ...nodePartsJa },
  templates,
  about: (name, sentence) => `${name}は${sentence}`,
  atNode: (label, sentence) => `${label}: ${sentence}`,
  atCharacter: (at, sentence) => `${sentence}（${at} 文字目）`,
  withValue: (word, value) => `${word}（${value}）`,
  quote: (name) => `「${name}」`,
};
