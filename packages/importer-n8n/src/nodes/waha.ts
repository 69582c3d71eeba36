import { TOP } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Compiler, Out } from '../compiler.ts';
import type { N8nNode } from '../read.ts';
import { branchesBy, usedOutputs } from './branches.ts';

/** The events of the first outputs of WAHA's trigger. Those after them differ between its versions. */
const EVENTS = ['session.status', 'message'];

/**
 * One output for each event that WAHA calls with, as far as nodes follow; null for any other trigger, and if it isn't known which event an
 * output stands for.
 */
export function wahaOuts(compiler: Compiler, node: N8nNode): readonly Out[] | null {
  if (node.kind !== 'wahaTrigger') return null;
  if ([...usedOutputs(compiler, node)].some((output) => output >= EVENTS.length)) return null;
  compiler.approximate(node, message('import.service_calls_webhook'));
  const trigger = compiler.add(node, { type: 'trigger.webhook', config: {}, scope: TOP, after: [] });
  return branchesBy(
    compiler,
    node,
    { label: 'event', left: '{{trigger.data.event}}', values: EVENTS },
    {
      exit: { id: trigger, handle: 'out' },
      ref: { kind: 'one', path: 'trigger.data', scope: TOP, owner: trigger },
    },
  );
}
