import { message, verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import { describeExecutionError, type ExecutionError, readError, storeError } from '../src/index.ts';

describe("an execution's error", () => {
  const error: ExecutionError = {
    code: 'http_status',
    message: message('nodes.http_status', { request: 'GET https://a.example', status: 500 }),
    nodeId: 'loop',
    origin: { iteration: [2, 0], nodeId: 'send', label: 'Send it' },
  };

  it('is stored as data, and read back unchanged', () => {
    const stored = storeError(error);
    expect(stored).toEqual({
      code: 'http_status',
      message: { key: 'nodes.http_status', params: { request: 'GET https://a.example', status: 500 } },
      node_id: 'loop',
      iteration: [2, 0],
      inner_node: { id: 'send', label: 'Send it' },
    });
    expect(readError(JSON.parse(JSON.stringify(stored)))).toEqual(error);
  });

  it('is English for programs, with its place inside a loop', () => {
    expect(describeExecutionError(error)).toEqual({
      code: 'http_status',
      message: 'Iteration 2.0, node "Send it": GET https://a.example returned status 500.',
      node_id: 'loop',
    });
  });

  it('of an earlier version is the stored sentence', () => {
    const old = { code: 'broken', message: 'Iteration 0, node "a": {{it}} broke', node_id: 'l' };
    expect(readError(old).message).toEqual(verbatim(old.message));
    expect(describeExecutionError(readError(old))).toEqual(old);
  });
});
