import { success } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

const MESSAGE = {
  id: '0d3a2f4e-1111-4222-8333-444455556666',
  text: '{"order":4711}',
  json: { order: 4711 },
  base64: null,
  size: 14,
  is_too_large: false,
  attributes: { kind: 'order' },
  sent_at: '2026-01-02T09:00:00.000Z',
  group_id: null,
  receive_count: 1,
};

export const triggerSqs = checkedNode({
  type: 'trigger.sqs',
  title: 'Amazon SQS message',
  description:
    'Receives messages from an Amazon SQS queue, or from a service with the same API, and starts one execution for each. A message is deleted from the queue once the start is stored. trigger.data has id, text, json, attributes and sent_at.',
  icon: 'list-ordered',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(
      ['aws'],
      'Credential',
      "Access keys that may receive and delete the queue's messages.",
    ),
    queue_url: Type.String({
      title: 'Queue URL',
      description: 'As shown in the AWS console.',
      maxLength: 2_048,
      default: '',
      'x-filled': true,
      'x-url': true,
      'x-placeholder': 'https://sqs.eu-central-1.amazonaws.com/123456789012/orders',
    }),
  },
  required: ['queue_url'],
  form: { main: ['credential_id', 'queue_url'] },
  synonyms: ['sqs', 'aws', 'amazon', 'queue', 'message', 'localstack', 'event'],
  examples: [
    {
      title: 'Each order in a queue',
      config: { credential_id: 3, queue_url: 'https://sqs.eu-central-1.amazonaws.com/123456789012/orders' },
      trigger: MESSAGE,
      expect: { output: { data: MESSAGE } },
    },
  ],
  listening: {
    place: ['credential_id', 'queue_url'],
    source: (config) => ({
      kind: 'sqs',
      credentialId: config.credential_id,
      queueUrl: config.queue_url.trim(),
    }),
  },
  run: (_config, context) => success({ data: context.triggerData }),
});
