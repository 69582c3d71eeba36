import { type Flow, type JsonObject, type JsonValue, validateStructure } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { expect } from 'vitest';
import { type ImportResult, importWorkflow } from './index.ts';

export const OPTIONS = { limits: { nodes: 500, depth: 100 }, name: 'File' };

/** The result of a file that can be read. */
export function read(value: JsonValue): ImportResult {
  const outcome = importWorkflow(value, OPTIONS);
  if ('fault' in outcome) throw new Error(inEnglish(outcome.fault.message));
  return outcome.result;
}

/** The code with which a file is refused; null if it is imported. */
export function faultOf(value: JsonValue): string | null {
  const outcome = importWorkflow(value, OPTIONS);
  return 'fault' in outcome ? outcome.fault.code : null;
}

/** The valid flow that was made. */
export function flowOf({ workflow }: ImportResult): Flow {
  if (workflow === null) throw new Error('nothing was made');
  expect(validateStructure(workflow.flow_data, { maxNodes: 2000 })).toEqual([]);
  return workflow.flow_data;
}

/** The config of the node with the label. */
export function configOf(result: ImportResult, label: string): JsonObject | undefined {
  return flowOf(result).nodes.find((node) => node.data?.label === label)?.data?.config;
}

/** What became of an original node. */
export function outcomeOf(result: ImportResult, name: string) {
  return result.outcomes.find(({ node }) => node === name);
}
