import type { StepData } from './display.ts';
import type { KnownType } from './editor-state.ts';

/** Groups with their own colour; the others use that of their kind. */
const TINTED_GROUPS: ReadonlySet<string> = new Set(['wait', 'ai']);

/** The class that colours a node type's icon. */
export function kindClass(type: Pick<KnownType, 'kind' | 'group'> | undefined): string {
  if (type === undefined) return 'flow-kind-unknown';
  return `flow-kind-${TINTED_GROUPS.has(type.group) ? type.group : type.kind}`;
}

/** Classes of a node's frame: `base`, and what its state adds. */
export function frameClasses(base: string, { run, mark, problems }: StepData, selected: boolean): string {
  const names = [base];
  if (selected) names.push('is-selected');
  if (run !== undefined) names.push(`is-${run.status}`);
  if (mark !== undefined) names.push(`is-mark-${mark}`);
  if (problems.length > 0) names.push('has-problem');
  return names.join(' ');
}
