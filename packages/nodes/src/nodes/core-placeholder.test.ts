import { type Flow, failure, findProblems } from '@millrace/engine';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { registry } from '../catalogue.ts';
import { corePlaceholder } from './core-placeholder.ts';

const CONFIG = { product: 'n8n', type: 'n8n-nodes-base.ssh', name: 'Restart', parameters: { command: 'ls' } };

describe('core.placeholder', () => {
  it('ends the execution when it is reached', async () => {
    const { result } = await runNode(corePlaceholder, { config: CONFIG });
    const said = message('nodes.placeholder_reached', { name: 'Restart' });
    expect(result).toEqual(failure('placeholder', said, { fatal: true }));
  });

  it('keeps its workflow from being activated, with a code of its own, as a tool of an agent, too', () => {
    const tool = {
      kind: 'node',
      name: 'restart',
      description: '',
      parameters: { type: 'object', properties: {} },
      type: 'core.placeholder',
      config: CONFIG,
    };
    const agent = { credential_id: 1, model: 'm', prompt: 'p', tools: [tool] };
    const flow: Flow = {
      nodes: [
        { id: 'start', type: 'trigger.manual' },
        { id: 'gone', type: 'core.placeholder', data: { config: CONFIG } },
        { id: 'agent', type: 'ai.agent', data: { config: agent } },
      ],
      edges: [
        { source: 'start', target: 'gone' },
        { source: 'gone', target: 'agent' },
      ],
    };
    const problems = findProblems(flow, registry);
    expect(problems.map(({ code, node_id: id }) => [code, id])).toEqual([
      ['placeholder', 'gone'],
      ['placeholder', 'agent'],
    ]);
    expect(inEnglish(problems[0]?.message ?? message('nodes.placeholder', { name: '' }))).toContain(
      'Restart',
    );
  });
});
