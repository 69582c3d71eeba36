import { success } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { namesProperty } from './listening/config.ts';

const MESSAGE = {
  topic: 'mill/3/temperature',
  text: '{"celsius":61.5}',
  json: { celsius: 61.5 },
  base64: null,
  size: 16,
  is_too_large: false,
  qos: 1,
  is_retained: false,
};

export const triggerMqtt = checkedNode({
  type: 'trigger.mqtt',
  title: 'MQTT message',
  description:
    'Subscribes to topics of an MQTT broker and starts one execution for each message. The broker keeps messages of QoS 1 and 2 while the connection is down; they are acknowledged once the start is stored. trigger.data has topic, text, json, qos and is_retained.',
  icon: 'message-square',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(['mqtt'], 'Credential', 'The broker.'),
    topics: namesProperty(
      'Topics',
      'Names or filters: + matches one level, # all that follow.',
      'mill/+/temperature',
    ),
    client_id: Type.String({
      title: 'Client ID',
      description:
        'Identifies the session that the broker keeps. No other client may use it. Empty: derived from the IDs of the workflow and this trigger.',
      maxLength: 255,
      default: '',
    }),
  },
  required: ['topics'],
  form: {
    main: ['credential_id', 'topics'],
    sections: [{ title: 'Session', fields: ['client_id'] }],
  },
  synonyms: ['mqtt', 'mosquitto', 'iot', 'sensor', 'broker', 'subscribe', 'topic', 'message', 'queue'],
  examples: [
    {
      title: 'Each temperature that a sensor reports',
      config: { credential_id: 3, topics: ['mill/+/temperature'] },
      trigger: MESSAGE,
      expect: { output: { data: MESSAGE } },
    },
  ],
  listening: {
    place: ['credential_id', 'client_id'],
    source: (config) => ({
      kind: 'mqtt',
      credentialId: config.credential_id,
      topics: config.topics,
      clientId: config.client_id.trim(),
    }),
  },
  run: (_config, context) => success({ data: context.triggerData }),
});
