import choices from './ja/choices.json';
import nodesAi from './ja/nodes-ai.json';
import nodesData from './ja/nodes-data.json';
import nodesDocuments from './ja/nodes-documents.json';
import nodesFiles from './ja/nodes-files.json';
import nodesLogic from './ja/nodes-logic.json';
import nodesOutside from './ja/nodes-outside.json';
import nodesStart from './ja/nodes-start.json';
import synonyms from './ja/synonyms.json';
import titles from './ja/titles.json';
import type { ServiceTexts } from './texts.ts';

/** The service's texts in Japanese. */
export const serviceJa: ServiceTexts = {
  nodes: {
    ...titles,
    ...nodesStart,
    ...nodesLogic,
    ...nodesData,
    ...nodesDocuments,
    ...nodesFiles,
    ...nodesOutside,
    ...nodesAi,
  },
  choices,
  synonyms,
  withValue: (word, value) => `${word}（${value}）`,
};
