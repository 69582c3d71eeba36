import { describe, expect, it } from 'vitest';
import { type ShownExecution, showExecution } from './timeline.ts';

const START = Date.parse('2026-11-20T09:30:00.000Z');
const at = (ms: number): string => new Date(START + ms).toISOString();

const execution: ShownExecution = {
  id: 42,
  workflow_id: 7,
  workflow_version: 3,
  status: 'failed',
  display_name: 'Nightly import #42',
  trigger_type: 'manual',
  created_at: at(-10),
  started_at: at(0),
  completed_at: at(3200),
  duration_ms: 3200,
  is_test_mode: false,
  error: {
    code: 'http_status',
    message: 'POST https://crm.example.com/rows returned status 500.',
    node_id: 'send',
  },
  node_outputs: {
    // Stored in the object's order, shown in chronological order.
    send: {
      status: 'failed',
      started_at: at(1600),
      completed_at: at(3200),
      attempts: 3,
      error: { code: 'http_status', message: 'POST https://crm.example.com/rows returned status 500.' },
    },
    start: { status: 'success', started_at: at(0), completed_at: at(0) },
    fetch: { status: 'success', started_at: at(0), completed_at: at(1600) },
    other: { status: 'skipped', completed_at: at(1600) },
  },
};

describe('showExecution', () => {
  it('draws a bar per node over the duration of the execution', () => {
    expect(`\n${showExecution(execution, START + 9999)}\n`).toBe(`
execution   42  Nightly import #42
status      failed
workflow    7, version 3
started by  manual
accepted    2026-11-20 09:29:59Z
started     2026-11-20 09:30:00Z
ended       2026-11-20 09:30:03Z
took        3.2 s

http_status (node send): POST https://crm.example.com/rows returned status 500.

NODE   STATUS    TOOK  TIMELINE
start  success   0 ms  █·······························
fetch  success  1.6 s  ████████████████················
send   failed   1.6 s  ················████████████████  3 attempts, http_status: POST https://crm.example.com/rows returned status 500.
other  skipped      -  ································
`);
  });

  it('ends the bar of a running node now', () => {
    const running: ShownExecution = {
      ...execution,
      status: 'running',
      completed_at: null,
      duration_ms: null,
      node_outputs: {
        start: { status: 'success', started_at: at(0), completed_at: at(1000) },
        wait: { status: 'running', started_at: at(1000), completed_at: null },
      },
    };
    const text = showExecution(running, START + 4000);
    expect(text).toMatch(/^took +-$/m);
    expect(text).toMatch(/^wait +running +3\.0 s +·{8}█{24}$/m);
  });

  it('says so if no node has run', () => {
    const queued: ShownExecution = { ...execution, status: 'queued', started_at: null, node_outputs: {} };
    expect(showExecution(queued, START)).toMatch(/No nodes have run\.$/);
  });
});
