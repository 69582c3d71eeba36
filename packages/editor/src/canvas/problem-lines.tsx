import type { FlowProblem } from '@millrace/admin-api';
import type { KnownType } from '@millrace/editor-model/editor-state.ts';
import { problemText } from '@millrace/editor-model/problem-text.ts';

/** What is wrong with a node, a line for each problem. */
export function ProblemLines({
  problems,
  type,
}: {
  problems: readonly FlowProblem[];
  type: KnownType | undefined;
}) {
  return problems.map((problem) => problemText(problem, type)).join('\n');
}
