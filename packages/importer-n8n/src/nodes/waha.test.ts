import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch } from '../testing.ts';

describe('what WAHA calls with', () => {
  const WAHA: Sketch = { type: '@devlikeapro/n8n-nodes-waha.wahaTrigger', version: 202_409 };
  const NEXT: Sketch = { type: 'noOp' };
  /** Nodes behind its outputs of these numbers. */
  const behind = (...outputs: readonly number[]) => {
    const original = n8n(
      { Call: WAHA, ...Object.fromEntries(outputs.map((output) => [`Next ${output}`, NEXT])) },
      [],
    ) as { connections: object };
    const main = Array.from({ length: 30 }, (_, output) =>
      outputs.includes(output) ? [{ node: `Next ${output}`, type: 'main', index: 0 }] : [],
    );
    return read({ ...original, connections: { Call: { main } } });
  };

  it('takes the branch of its event', () => {
    const result = behind(0, 1);
    expect(outcomeOf(result, 'Call')?.kind).toBe('approximated');
    expect(configOf(result, 'Call: event')?.cases).toEqual(
      ['session.status', 'message'].map((name) => ({
        name,
        conditions: [{ left: '{{trigger.data.event}}', operator: 'equals', right: name }],
      })),
    );
    const { nodes, edges } = flowOf(result);
    const idOf = (label: string) => nodes.find(({ data }) => data?.label === label)?.id ?? '';
    const into = (label: string) => edges.filter(({ target }) => target === idOf(label));
    expect(into('Next 1').map(({ source, sourceHandle }) => [source, sourceHandle])).toEqual([
      [idOf('Call: event'), 'message'],
    ]);
    expect(into('Next 0').map(({ sourceHandle }) => sourceHandle)).toEqual(['session.status']);
  });

  it('is not guessed for outputs whose event is not known', () => {
    expect(outcomeOf(behind(1, 20), 'Call')?.kind).toBe('dropped');
  });
});
