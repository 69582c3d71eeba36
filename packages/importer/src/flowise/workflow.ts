import type { JsonValue, Work } from '@millrace/engine';
import type { ImportedWorkflow, Report } from '../report.ts';
export function* importFlowise(
  _value: JsonValue,
): Work<{ name: string; workflows: readonly ImportedWorkflow[]; report: Report }> {
  yield 1;
  throw new Error('not yet');
}
