import { success } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { existingProperty, namesProperty } from './listening/config.ts';
import { findTopicFaults } from './listening/kafka-topics.ts';

const MESSAGE = {
  topic: 'orders',
  partition: 0,
  offset: 4711,
  timestamp: '2026-01-02T09:00:00.000Z',
  key: 'customer-17',
  key_base64: null,
  headers: { kind: 'order' },
  text: '{"id":4711}',
  json: { id: 4711 },
  base64: null,
  size: 11,
  is_too_large: false,
  is_tombstone: false,
};

export const triggerKafka = checkedNode({
  type: 'trigger.kafka',
  title: 'Kafka message',
  description:
    'Reads topics of an Apache Kafka cluster as a member of a consumer group and starts one execution for each message. Its offset is committed once the start is stored. trigger.data has topic, partition, offset, timestamp, key, headers, text and json.',
  icon: 'message-square',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(['kafka'], 'Credential', 'The cluster.'),
    topics: namesProperty(
      'Topics',
      'Names of existing topics, or patterns: regular expressions that start with ^, such as ^orders-. Matching topics that are created later are read within a minute, from their beginning. End a pattern with $ to match whole names.',
      'orders',
    ),
    group: Type.String({
      title: 'Consumer group',
      description:
        'Each message goes to one member of the group, which stores how far it has read. Empty: a separate group, named after the IDs of the workflow and this trigger.',
      maxLength: 249,
      default: '',
      'x-placeholder': 'millrace-orders',
    }),
    existing: existingProperty(
      'Messages that are already there',
      'What happens to messages already in a topic when the group first reads it, or after its offsets have expired.',
    ),
  },
  required: ['topics'],
  findFaults: findTopicFaults,
  form: {
    main: ['credential_id', 'topics', 'group', 'existing'],
    sections: [],
  },
  synonyms: [
    'kafka',
    'redpanda',
    'confluent',
    'msk',
    'stream',
    'topic',
    'topic pattern',
    'consumer',
    'queue',
    'message',
    'event',
  ],
  examples: [
    {
      title: 'Each order that a shop sends to a topic',
      config: { credential_id: 3, topics: ['orders'] },
      trigger: MESSAGE,
      expect: { output: { data: MESSAGE } },
    },
    {
      title: 'The orders of all shops, each with its own topic',
      config: { credential_id: 3, topics: ['^orders-[a-z]+$'] },
      trigger: { ...MESSAGE, topic: 'orders-osaka' },
      expect: { output: { data: { ...MESSAGE, topic: 'orders-osaka' } } },
    },
  ],
  listening: {
    place: ['credential_id', 'group'],
    source: (config) => ({
      kind: 'kafka',
      credentialId: config.credential_id,
      topics: config.topics.map((topic) => topic.trim()),
      group: config.group.trim(),
      existing: config.existing,
    }),
  },
  run: (_config, context) => success({ data: context.triggerData }),
});
