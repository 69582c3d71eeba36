import type { NodeDefinition } from '@millrace/engine';
import { aiAgent } from './ai-agent.ts';
import { aiClassify } from './ai-classify.ts';
import { aiEmbed } from './ai-embed.ts';
import { aiExtract } from './ai-extract.ts';
import { aiGenerate } from './ai-generate.ts';
import { aiSplit } from './ai-split.ts';
import { aiVectors } from './ai-vectors.ts';

/** The nodes that call models, in the order the editor and the reference show them. */
export const aiNodes: readonly NodeDefinition[] = [
  aiGenerate,
  aiClassify,
  aiExtract,
  aiAgent,
  aiEmbed,
  aiSplit,
  aiVectors,
];
