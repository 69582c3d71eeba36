import type { FlowProblem } from '@millrace/admin-api';
import { problemText } from '@millrace/editor-model/problem-text.ts';

/** What is wrong with a node, a line for each problem. */
export function ProblemLines({ problems }: { problems: readonly FlowProblem[] }) {
  return problems.map(problemText).join('\n');
}
