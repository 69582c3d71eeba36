const username = 'User name';
const password = 'Password';

export const credentialsEn = {
  title: 'Credentials',
  about: 'Passwords, tokens and keys that workflows use. Secrets are stored encrypted and never shown again.',
  add: 'Add a credential',
  addAction: 'Add',
  editTitle: 'Change {{name}}',
  name: 'Name',
  nameHint: 'What it opens',
  nameExample: 'CRM, read only',
  type: 'Type',
  typeHint: 'Choose a type',
  goesTo: 'Goes to',
  everyHost: 'Every host',
  neverSent: 'Never sent',
  lastUse: 'Last use',
  neverUsed: 'Never used',
  updated: 'Changed',
  createdBy: 'Added by {{email}}',
  needsSecret: 'Secret missing',
  needsSecretHint: 'Its secret was given up with the key it was encrypted with. Enter it anew.',
  actionsNamed: 'More for {{name}}',
  usage: 'Where it is used',
  usageTitle: 'Workflows that use {{name}}',
  unused: 'No saved workflow uses it.',
  hosts: 'Hosts it may be sent to',
  hostsHint:
    'Such as api.example.com, api.example.com:8443 or *.example.com; Enter adds one. * alone stands for every host.',
  anyHostWarning: 'It may be sent to every host: whoever builds a workflow can send it anywhere.',
  keepSecret: 'Stored. Leave empty to keep it.',
  enterAnew: 'Enter it anew.',
  elsewhere: 'When you change where it is sent, enter its secrets again.',
  removeSecret: 'Remove the stored value',
  optional: 'optional',
  saved: '{{name}} is saved.',
  remove: 'Remove',
  removeTitle: 'Remove {{name}}?',
  removeHint: 'Its secret is gone for good.',
  removeUsed: 'These workflows use it; their nodes fail when it is gone:',
  removeUsedEditor:
    'These workflows use it. Choose another credential in their nodes first, or ask an organisation admin:',
  removed: '{{name}} is removed.',
  empty: 'No credentials yet',
  emptyHint:
    'A credential keeps a password, a token or a key for the nodes that need it, and says where it may be sent.',
  types: {
    bearer: { title: 'Bearer token', about: 'Sent as Authorization: Bearer.' },
    basic: { title: 'User name and password', about: 'Sent as HTTP basic authentication.' },
    header: { title: 'Header', about: 'A header of your own, such as X-Api-Key.' },
    secret: {
      title: 'Signing secret',
      about: 'A key that signs or verifies messages. It never leaves the service.',
    },
    smtp: { title: 'Mail server', about: 'An SMTP server that takes mails.' },
    sql: {
      title: 'SQL database',
      about: 'A PostgreSQL or MySQL server. Use an account that may do no more than needed.',
    },
    ai: { title: 'AI provider', about: 'Whose models answer.' },
    chat: { title: 'Chat', about: 'A chat service that takes messages.' },
  },
  fields: {
    bearer: { token: { title: 'Token', hint: 'Without the word Bearer.' } },
    basic: {
      username: { title: username, hint: 'May not hold a colon.' },
      password: { title: password, hint: 'May be empty.' },
    },
    header: {
      name: { title: 'Header name', hint: 'For example X-Api-Key.' },
      value: { title: 'Header value', hint: 'What the header carries.' },
    },
    secret: { value: { title: 'Secret', hint: 'As the other side shows it.' } },
    smtp: {
      host: { title: 'Server', hint: 'Host name, such as smtp.example.com.' },
      port: { title: 'Port', hint: 'TCP port, 1 to 65535.' },
      security: {
        title: 'Encryption',
        hint: 'starttls: required after the greeting (port 587). tls: from the first byte (port 465). none: in clear.',
      },
      username: { title: username, hint: 'Empty when the server asks for none.' },
      password: { title: password, hint: 'Empty when the server asks for none.' },
    },
    sql: {
      dialect: { title: 'Kind', hint: 'Which server it is.' },
      host: { title: 'Server', hint: 'Host name or address.' },
      port: { title: 'Port', hint: 'TCP port, 1 to 65535. MySQL usually listens on 3306.' },
      database: { title: 'Database', hint: 'Its name.' },
      username: { title: username, hint: 'Of the account.' },
      password: { title: password, hint: 'May be empty.' },
      tls: {
        title: 'Encryption',
        hint: 'verify: the certificate is checked. require: encrypted only. off: in clear.',
      },
    },
    ai: {
      provider: { title: 'Provider', hint: 'Whose interface the server speaks.' },
      base_url: {
        title: 'Base URL',
        hint: "Of the interface, such as https://api.example.com/v1. Empty: the provider's own.",
      },
      api_key: { title: 'API key', hint: 'As the provider shows it.' },
    },
    chat: {
      service: { title: 'Service', hint: 'Which one it is.' },
      webhook_url: {
        title: 'Webhook URL',
        hint: 'Address of an incoming webhook, for services that have them.',
      },
      token: { title: 'Token', hint: 'Of a bot or an API, for services that have them.' },
      base_url: {
        title: 'Server',
        hint: "Of a self-hosted service, such as https://chat.example.com. Empty: the service's own.",
      },
    },
  },
} as const;
