import type { FlowProblem } from '@millrace/admin-api';
import type { KnownType } from '@millrace/editor-model/editor-state.ts';
import { problemText } from '@millrace/editor-model/problem-text.ts';
import { needsConnectors, useWholeTypes } from './use-connectors.ts';

/** What is wrong with a node, a line for each problem. */
export function ProblemLines({
  problems,
  type,
}: {
  problems: readonly FlowProblem[];
  type: KnownType | undefined;
}) {
  // Settings are called as in their forms, which come with the whole types.
  useWholeTypes({ ofConnectors: type !== undefined && needsConnectors(type) });
  return problems.map((problem) => problemText(problem, type)).join('\n');
}
