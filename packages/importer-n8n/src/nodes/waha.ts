import { TOP } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Compiler, Out } from '../compiler.ts';
import type { N8nNode } from '../read.ts';

/** The events of the first outputs of WAHA's trigger. Those after them differ between its versions. */
const EVENTS = ['session.status', 'message'];

/**
 * One output for each event that WAHA calls with, as far as nodes follow; null for any other trigger, and if it isn't known which event an
 * output stands for.
 */
export function wahaOuts(compiler: Compiler, node: N8nNode): readonly Out[] | null {
  if (node.kind !== 'wahaTrigger') return null;
  const used = new Set(
    compiler.started.links.filter(({ from }) => from === node.name).map(({ output }) => output),
  );
  if ([...used].some((output) => output >= EVENTS.length)) return null;
  compiler.approximate(node, message('import.service_calls_webhook'));
  const trigger = compiler.add(node, { type: 'trigger.webhook', config: {}, scope: TOP, after: [] });
  const cases = EVENTS.filter((_event, output) => used.has(output)).map((name) => ({
    name,
    conditions: [{ left: '{{trigger.data.event}}', operator: 'equals', right: name }],
  }));
  const exit = { id: trigger, handle: 'out' };
  const ref = { kind: 'one' as const, path: 'trigger.data', scope: TOP, owner: trigger };
  if (cases.length === 0) return [{ exit, ref }];
  const events = compiler.add(node, {
    type: 'core.switch',
    label: `${node.name}: event`,
    config: { cases },
    scope: TOP,
    after: [exit],
  });
  return EVENTS.map((name) => ({ exit: { id: events, handle: name }, ref }));
}
