import type { Template } from '@millrace/admin-api';
import type { NodeType } from '@millrace/editor-model/editor-state.ts';
import { describe, expect, test } from 'vitest';
import { onlyCredentials, openSteps } from './template-needs.ts';
import { searchTemplates } from './template-search.ts';

const BASE = {
  description: '',
  tags: [],
  trigger_type: 'trigger.manual',
  setup: [],
  companions: [],
  samples: [],
  flow_data: { nodes: [], edges: [] },
};
const REPORT: Template = {
  ...BASE,
  id: 'report',
  name: 'Daily report',
  summary: 'Mails what was sold.',
  categories: ['reports'],
  node_types: ['mail.send'],
};
const TRIAGE: Template = {
  ...BASE,
  id: 'triage',
  name: 'Triage',
  summary: 'Reads mails for a report.',
  categories: ['ai', 'approvals'],
  node_types: ['ai.agent'],
};
const NODE_TYPES = new Map(
  [
    { type: 'mail.send', title: 'Send e-mail', synonyms: ['smtp', 'メール'] },
    { type: 'ai.agent', title: 'AI agent', synonyms: ['llm'] },
  ].map((type) => [type.type, type as unknown as NodeType]),
);

describe('searching templates', () => {
  test.each([
    [{}, ['triage', 'report']],
    [{ search: 'mails' }, ['triage', 'report']],
    [{ search: 'SMTP' }, ['report']],
    [{ search: 'メール' }, ['report']],
    [{ search: 'ai.agent' }, ['triage']],
    [{ search: 'mails llm' }, ['triage']],
    [{ search: 'triage' }, ['triage']],
    [{ category: 'approvals' as const }, ['triage']],
    [{ category: 'reports' as const, search: 'llm' }, []],
    [{ search: 'sold report' }, ['report']],
  ])('%j finds %j', (filters, ids) => {
    expect(searchTemplates([REPORT, TRIAGE], filters, NODE_TYPES).map(({ id }) => id)).toEqual(ids);
  });

  test('one with the words in its name comes first', () => {
    const found = searchTemplates([TRIAGE, REPORT], { search: 'report' }, NODE_TYPES);
    expect(found.map(({ id }) => id)).toEqual(['report', 'triage']);
  });
});

describe('what a template needs', () => {
  const step = (name: string, types: string[] | null, value: string | number = 0) => ({
    var: name,
    description: '',
    value,
    credential_types: types,
  });
  const setup = [
    step('chat', ['chat']),
    step('api', ['bearer', 'basic']),
    step('channel', null, ''),
    step('url', null, 'x'),
  ];
  const credential = (id: number, type: string) => ({ id, type }) as never;

  test('is filled in where only one credential fits', () => {
    const template = { ...REPORT, setup };
    const credentials = [credential(1, 'chat'), credential(2, 'bearer'), credential(3, 'basic')];
    expect(onlyCredentials(template, credentials)).toEqual({ chat: 1 });
    expect(onlyCredentials(template, [])).toEqual({});
  });

  test('is open while it is missing; a text that is empty by default may stay so', () => {
    const names = (vars: object) => openSteps(setup, vars as never).map((each) => each.var);
    expect(names({ channel: '', url: 'x' })).toEqual(['chat', 'api']);
    expect(names({ chat: 1, api: 2, channel: '', url: '' })).toEqual(['url']);
  });
});
