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
  const step = (
    name: string,
    types: string[] | null,
    value: string | number = 0,
    services: string[][] = [],
  ) => ({
    var: name,
    description: '',
    value,
    credential_types: types,
    credential_hosts: services,
    new_credential: null,
  });
  const setup = [
    step('chat', ['chat']),
    step('api', ['bearer', 'basic']),
    step('channel', null, ''),
    step('url', null, 'x'),
  ];
  const credential = (id: number, type: string, hosts: string[] = []) => ({ id, type, hosts }) as never;

  test('is filled in where only one credential fits', () => {
    const template = { ...REPORT, setup };
    const credentials = [credential(1, 'chat'), credential(2, 'bearer'), credential(3, 'basic')];
    expect(onlyCredentials(template, credentials)).toEqual({ chat: 1 });
    expect(onlyCredentials(template, [])).toEqual({});
  });

  test.each<[string, string[][], string[], boolean]>([
    ['its host', [['api.stripe.com']], ['api.stripe.com'], true],
    ['another host', [['api.stripe.com']], ['api.notion.com'], false],
    ['hosts that its own is among', [['api.stripe.com']], ['*.stripe.com'], true],
    ['a name that only ends like its own', [['*.zendesk.com']], ['evilzendesk.com'], false],
    ['one of its hosts', [['*.zendesk.com']], ['acme.zendesk.com'], true],
    ['any host', [['*']], ['shop.example.com'], true],
    ['only one of two services', [['a.example'], ['b.example']], ['a.example'], false],
    ['both of two services', [['a.example'], ['b.example']], ['a.example', 'b.example'], true],
    ['no host of its own', [], ['a.example'], true],
  ])('is filled in by a credential for %s', (_, services, hosts, isTaken) => {
    const template = { ...REPORT, setup: [step('api', ['bearer'], 0, services)] };
    const found = onlyCredentials(template, [credential(1, 'bearer', hosts), credential(2, 'smtp')]);
    expect(found).toEqual(isTaken ? { api: 1 } : {});
  });

  test('is filled in by the one that may be sent there, of several', () => {
    const template = { ...REPORT, setup: [step('api', ['bearer'], 0, [['api.stripe.com']])] };
    const credentials = [
      credential(1, 'bearer', ['api.notion.com']),
      credential(2, 'bearer', ['api.stripe.com']),
    ];
    expect(onlyCredentials(template, credentials)).toEqual({ api: 2 });
  });

  test('is open while it is missing; a text that is empty by default may stay so', () => {
    const names = (vars: object) => openSteps(setup, vars as never).map((each) => each.var);
    expect(names({ channel: '', url: 'x' })).toEqual(['chat', 'api']);
    expect(names({ chat: 1, api: 2, channel: '', url: '' })).toEqual(['url']);
  });
});
