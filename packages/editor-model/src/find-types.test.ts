import { describe, expect, test } from 'vitest';
import type { NodeType } from './editor-state.ts';
import { findTypes } from './find-types.ts';
import { nodeType } from './testing.ts';

const typeOf = (type: string, title: string, synonyms: readonly string[], description = ''): NodeType =>
  nodeType(type, { title, synonyms: [...synonyms], description });
const TYPES = [
  typeOf('trigger.schedule', 'Schedule', ['cron', 'timer', '定期'], 'Starts at a time.'),
  typeOf('core.delay', 'Delay', ['sleep', 'timer'], 'Waits for a time.'),
  typeOf('core.if', 'If', ['condition'], 'Takes a branch.'),
  typeOf('core.filter', 'Filter a list', ['where'], 'Keeps items if conditions are met.'),
  typeOf('http.request', 'HTTP request', ['api', 'fetch'], 'Calls a URL.'),
  typeOf('chat.notify', 'Chat message', ['slack', '通知'], 'Sends a message to Slack.'),
  typeOf('mailchimp.add', 'Mailchimp: add a member', ['newsletter'], 'Adds a member to an audience.'),
  typeOf('email.send', 'Send e-mail', ['mail', 'smtp'], 'Sends an e-mail.'),
];
const found = (search: string) =>
  findTypes(TYPES, search).flatMap(({ types }) => types.map(({ type }) => type));

describe('searching the palette', () => {
  test.each([
    // Titles come before other words, and those before descriptions.
    ['if', ['core.if', 'core.filter']],
    ['cond', ['core.if', 'core.filter']],
    ['cron', ['trigger.schedule']],
    ['timer', ['trigger.schedule', 'core.delay']],
    ['TIMER delay', ['core.delay']],
    // A whole word comes before a longer one that begins with it.
    ['mail', ['email.send', 'mailchimp.add']],
    ['mailch', ['mailchimp.add']],
    ['定期', ['trigger.schedule']],
    ['ｓｌａｃｋ', ['chat.notify']],
    ['通知', ['chat.notify']],
    // One letter wrong, missing, superfluous or swapped.
    ['shcedule', ['trigger.schedule']],
    ['delai', ['core.delay']],
    ['fetsh', ['http.request']],
    ['mesage', ['chat.notify']],
    ['requesst', ['http.request']],
    ['salesforce', []],
  ])('%s', (search, expected) => {
    expect(found(search)).toEqual(expected);
  });

  test('nothing searched: everything, in the order of the catalogue', () => {
    expect(found(' ')).toEqual(TYPES.map(({ type }) => type));
  });
});

test('in a workflow that has a trigger, others come after what follows it, and are still found', () => {
  const chat: NodeType = { ...typeOf('trigger.chat', 'Chat', []), kind: 'trigger' };
  const typesOf = (search: string, putsTriggersLast: boolean) =>
    findTypes([...TYPES, chat], search, { putsTriggersLast }).flatMap(({ types }) =>
      types.map(({ type }) => type),
    );
  expect(typesOf('chat', false)).toEqual(['trigger.chat', 'chat.notify']);
  expect(typesOf('chat', true)).toEqual(['chat.notify', 'trigger.chat']);
});
