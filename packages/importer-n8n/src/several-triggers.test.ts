import { problemsOf } from '@millrace/importer';
import { describe, expect, it } from 'vitest';
import { flowOf, n8n, outcomeOf, read, START } from './testing.ts';

describe('several triggers', () => {
  const nightly = {
    type: 'scheduleTrigger',
    version: 1.2,
    parameters: { rule: { interval: [{ field: 'hours', hoursInterval: 6 }, { field: 'days' }] } },
  };

  it('are all in one workflow, and each leads where it led', () => {
    const result = read(
      n8n(
        {
          Hook: { type: 'webhook', version: 2 },
          Manual: START,
          Nightly: nightly,
          Alone: START,
          Shared: { type: 'noOp' },
          Clean: { type: 'noOp' },
        },
        [
          ['Hook', 'Shared'],
          ['Manual', 'Shared'],
          ['Nightly', 'Clean'],
        ],
      ),
    );
    expect([result.workflow?.name, result.companions]).toEqual(['Sketch', []]);
    const { nodes, edges } = flowOf(result);
    const triggers = nodes.filter(({ type }) => type.startsWith('trigger.'));
    expect(triggers.map(({ id, type }) => [id, type])).toEqual([
      ['hook', 'trigger.webhook'],
      ['nightly', 'trigger.schedule'],
      ['manual', 'trigger.manual'],
      ['nightly_2', 'trigger.schedule'],
    ]);
    expect(triggers.map(({ data }) => data?.config?.schedule)).toMatchObject([
      ...[undefined, { cron: '0 */6 * * *' }, undefined, { cron: '0 0 * * *' }],
    ]);
    const from = (id: string) => edges.filter(({ source }) => source === id).map(({ target }) => target);
    expect(from('nightly_2')).toEqual(from('nightly'));
    expect(outcomeOf(result, 'Manual')?.kind).toBe('mapped');
    expect(outcomeOf(result, 'Alone')?.kind).toBe('approximated');
    expect(problemsOf(result)).toEqual([]);
  });

  it('with different data: what follows reads that of the one that started', () => {
    const result = read(
      n8n(
        {
          Hook: { type: 'webhook', version: 2 },
          Manual: START,
          Set: {
            type: 'set',
            version: 3.4,
            parameters: {
              assignments: { assignments: [{ name: 'x', type: 'string', value: '={{ $json.body.x }}' }] },
            },
          },
        },
        [
          ['Hook', 'Set'],
          ['Manual', 'Set'],
        ],
      ),
    );
    const { nodes } = flowOf(result);
    const configOfId = (id: string) => nodes.find((node) => node.id === id)?.data?.config;
    expect(configOfId('pass_on')).toMatchObject({ values: { item: { body: '{{trigger.data}}' } } });
    expect(configOfId('set_input')).toEqual({
      values: { item: '{{nodes.pass_on.output.item | default: trigger.data}}' },
    });
    expect(problemsOf(result)).toEqual([]);
  });

  it('of which several are called have different addresses', () => {
    const hook = (path: string) => ({ type: 'webhook', version: 2, parameters: { path } });
    const leading = read(
      n8n({ First: hook('a'), Orders: hook('orders'), Again: hook('orders'), End: { type: 'noOp' } }, [
        ['First', 'End'],
        ['Orders', 'End'],
        ['Again', 'End'],
      ]),
    );
    const webhooks = flowOf(leading).nodes.filter(({ type }) => type === 'trigger.webhook');
    expect(webhooks.map(({ data }) => data?.config?.path ?? '')).toEqual(['', 'orders', 'again']);
    expect(outcomeOf(leading, 'Orders')?.kind).toBe('approximated');
    expect(problemsOf(leading)).toEqual([]);
  });
});
