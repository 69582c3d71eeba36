import { success } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { existingProperty, secondsToMs } from './listening/config.ts';

const ENTRY = {
  id: '1767344400000-0',
  stream: 'orders',
  fields: { id: '4711', total: '42.50' },
  is_too_large: false,
};

export const triggerRedis = checkedNode({
  type: 'trigger.redis',
  title: 'Redis stream',
  description:
    'Reads a Redis stream as a consumer of a group and starts one execution for each entry, which is acknowledged once the start is stored. trigger.data has id, stream and fields. Entries that another consumer of the group leaves unacknowledged are taken over.',
  icon: 'database',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(['redis'], 'Credential', 'The Redis server.'),
    stream: Type.String({
      title: 'Stream',
      description: 'The key of the stream. It is created if it does not exist.',
      maxLength: 512,
      default: '',
      'x-filled': true,
      'x-placeholder': 'orders',
    }),
    group: Type.String({
      title: 'Consumer group',
      description:
        'Each entry goes to one consumer of the group, which is created if it does not exist. If two workflows should each get every entry, give them different groups.',
      minLength: 1,
      maxLength: 255,
      default: 'millrace',
      'x-placeholder': 'millrace',
    }),
    existing: existingProperty(
      'Entries that are already there',
      'What happens to entries already in the stream when the group is created.',
    ),
    claim_after_s: Type.Integer({
      title: 'Take over after',
      description:
        'Seconds after which entries that another consumer of the group has not acknowledged are taken over.',
      minimum: 30,
      maximum: 86_400,
      default: 300,
    }),
  },
  required: ['stream'],
  form: {
    main: ['credential_id', 'stream', 'group', 'existing'],
    sections: [{ title: 'Other consumers', fields: ['claim_after_s'] }],
  },
  synonyms: ['redis', 'valkey', 'stream', 'queue', 'message', 'event', 'consumer', 'xreadgroup'],
  examples: [
    {
      title: 'Each order that a shop adds to a stream',
      config: { credential_id: 3, stream: 'orders' },
      trigger: ENTRY,
      expect: { output: { data: ENTRY } },
    },
  ],
  listening: {
    place: ['credential_id', 'stream', 'group'],
    source: (config) => ({
      kind: 'redis',
      credentialId: config.credential_id,
      stream: config.stream,
      group: config.group,
      existing: config.existing,
      claimAfterMs: secondsToMs(config.claim_after_s),
    }),
  },
  run: (_config, context) => success({ data: context.triggerData }),
});
