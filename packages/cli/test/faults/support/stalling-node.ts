import { isJsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';

/*
 * Loaded into a worker before everything else: `core.set` computes for as long as its value `stall_ms` says. No node of the catalogue can
 * be made to hold the main thread for that long any more.
 */

const node = registry('core.set');
if (node === undefined) throw new Error('there is no core.set');
const run = node.run.bind(node);
node.run = (context) => {
  const { values } = context.config;
  const stallMs = isJsonObject(values) && typeof values.stall_ms === 'number' ? values.stall_ms : 0;
  const cpu = process.cpuUsage();
  const until = performance.now() + stallMs;
  // However little of the processor it gets, it has been computing.
  while (performance.now() < until || process.cpuUsage(cpu).user < (stallMs / 4) * 1_000) Math.sqrt(stallMs);
  return run(context);
};
