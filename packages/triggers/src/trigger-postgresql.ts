import { success } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { namesProperty } from './listening/config.ts';

const NOTIFICATION = {
  channel: 'orders',
  text: '{"id":4711}',
  json: { id: 4711 },
  base64: null,
  size: 11,
  is_too_large: false,
  process_id: 812,
};

export const triggerPostgresql = checkedNode({
  type: 'trigger.postgresql',
  title: 'PostgreSQL notification',
  description:
    'Listens on channels of a PostgreSQL database (LISTEN) and starts one execution for each notification. Notifications are lost while nobody listens: during a restart, an interrupted connection, or test mode. trigger.data has channel, text and json.',
  icon: 'database',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(
      ['sql'],
      'Credential',
      'The PostgreSQL server, reached directly or through a pooler in session mode.',
    ),
    channels: namesProperty('Channels', 'Names as in NOTIFY: in lower case unless quoted there.', 'orders'),
  },
  required: ['channels'],
  form: { main: ['credential_id', 'channels'] },
  synonyms: ['postgres', 'postgresql', 'listen', 'notify', 'notification', 'database', 'trigger', 'event'],
  examples: [
    {
      title: 'Each order that a database trigger reports',
      config: { credential_id: 3, channels: ['orders'] },
      trigger: NOTIFICATION,
      expect: { output: { data: NOTIFICATION } },
    },
  ],
  listening: {
    place: ['credential_id'],
    source: (config) => ({
      kind: 'postgresql',
      credentialId: config.credential_id,
      channels: config.channels,
    }),
  },
  run: (_config, context) => success({ data: context.triggerData }),
});
