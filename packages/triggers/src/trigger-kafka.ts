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
    'Reads topics of an Apache Kafka cluster as a member of a consumer group and starts one execution for each message, whose offset is committed once the start is stored. trigger.data has topic, partition, offset, timestamp, key, headers, text and json.',
  icon: 'message-square',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(['kafka'], 'Credential', 'The cluster.'),
    topics: namesProperty(
      'Topics',
      'Names of topics, which have to exist, or patterns for names: regular expressions that begin with ^, such as ^orders-. Topics that are made later and match are read within a minute, from their beginning. A $ at the end of a pattern compares whole names.',
      'orders',
    ),
    group: Type.String({
      title: 'Consumer group',
      description:
        'Each message goes to one member of a group, which keeps where reading goes on. Empty: a group of its own, made from the IDs of the workflow and of this trigger.',
      maxLength: 249,
      default: '',
      'x-placeholder': 'millrace-orders',
    }),
    existing: existingProperty(
      'Messages that are already there',
      'What happens to messages that are in a topic when the group reads it for the first time, or when its offsets have expired.',
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
      title: 'The orders of all shops, each of which has a topic of its own',
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
