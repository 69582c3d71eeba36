import { findProblems, type Problem } from '@millrace/engine';
import { type ImportResult, workflowsOf } from '@millrace/importer-kit/report';
import { registry } from '@millrace/nodes';

/** What an imported workflow still needs before it can be activated. */
export interface ImportProblem extends Problem {
  /** Name of the workflow. */
  readonly workflow: string;
}

/** The problems of every workflow that was made from a file, by the service's own check. */
export function problemsOf(result: ImportResult): readonly ImportProblem[] {
  return workflowsOf(result).flatMap(({ name, flow_data: flow }) =>
    findProblems(flow, registry).map((problem) => ({ ...problem, workflow: name })),
  );
}
