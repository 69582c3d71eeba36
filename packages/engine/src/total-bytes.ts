import { message } from '@millrace/messages';
import type { JsonObject } from '@millrace/values/json';
import { jsonBytes } from '@millrace/values/json-size';
import type { Slot } from './frames.ts';
import { type Failure, failure } from './node-result.ts';
import type { ExecutionState } from './state.ts';
import type { Tokens } from './tokens.ts';

/**
 * The failure of an output that would exceed the limit of what is stored for the execution; null if it fits. Neither another attempt nor
 * `on_error` can help: every further output would be refused, too.
 * @param times how often it will be stored
 */
export function checkTotal(
  state: ExecutionState,
  { node }: Slot,
  output: JsonObject,
  tokens?: Tokens,
  times = 1,
): Failure | null {
  const { maxExecutionBytes: max, maxOutputBytes } = state.input.limits;
  // Outputs are hardly ever larger, so measuring is rarely needed.
  if (state.bytes + times * maxOutputBytes <= max) return null;
  const bytes = jsonBytes(output, Number.POSITIVE_INFINITY);
  if (typeof bytes === 'number' && state.bytes + times * bytes <= max) return null;
  return failure(
    'execution_too_large',
    message('run.execution_too_large', {
      node: node.label,
      stored: state.bytes,
      bytes: Number(bytes),
      max,
    }),
    {
      fatal: true,
      ...tokens,
    },
  );
}
