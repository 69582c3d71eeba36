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
  keepUnknown: 'Leave empty to keep what is stored.',
  enterAnew: 'Enter it anew.',
  elsewhere: 'When you change where it is sent, enter its secrets again.',
  removeSecret: 'Remove the stored value',
  optional: 'optional',
  saved: '{{name}} is saved.',
  test: {
    action: 'Test',
    title: 'Test {{name}}',
    again: 'Test again',
    change: 'Change it',
    running: 'Testing…',
    about: {
      bearer:
        'Asks for the page with the credential, and once without it, to see whether that makes a difference.',
      basic:
        'Asks for the page with the credential, and once without it, to see whether that makes a difference.',
      header:
        'Asks for the page with the credential, and once without it, to see whether that makes a difference.',
      secret: 'Decrypts it. It is never sent, so nobody else is asked.',
      smtp: 'Connects and signs in. No mail is sent.',
      sql: 'Connects and runs SELECT 1.',
      ai: 'Asks for the list of models. No tokens are used.',
      chat: 'Asks the service whose it is. No message is sent.',
    },
    url: 'Address of a page that wants it',
    urlHint: 'It is called by GET, on one of: {{hosts}}',
    outcome: { works: 'It works', unsure: 'Not proved', failed: 'It does not work' },
    status: 'Status {{status}}',
    code: {
      accepted: 'The other side accepted it.',
      connected: 'The server takes connections. The credential has no user name, so nobody signed in.',
      readable: 'It can be decrypted.',
      reached:
        'The server is there. It answers nothing but messages, so whether it takes this address shows with the first one.',
      open_to_all: 'The page answers just as well without the credential. Try one that is not for everybody.',
      redirected:
        'The page leads to another one, often to a form to sign in. Enter the address of an interface that answers itself.',
      no_model_list: 'The server is there and shows no list of models, so the key could not be tried.',
      other_status: 'The answer does not say whether the credential is right. Try another page, or later.',
      refused: 'The other side does not accept it.',
      forbidden:
        'The other side knows it or not, and does not allow this. Check what the account may do, or try another page.',
    },
    hint: {
      refused: 'Copy it anew from where it was issued: it may have ended or been cut off.',
      other: 'Check its fields, and that the other side can be reached from here.',
      invalid_credential: 'Change the field that the message names.',
      credential_unreadable: 'Change it, and enter its secrets anew.',
      credential_host_not_allowed: 'Take a page on one of its hosts, or add the host to the credential.',
      target_not_allowed:
        'It leads into an internal network, or to a host that is not on the list in the settings. Who runs the service opens the first (MILLRACE_ALLOW_HOSTS), an organisation admin the second.',
      connection_failed: 'Check the name of the host, its port, and that it can be reached from here.',
      timeout: 'Check host and port: a firewall in between answers nothing.',
      mail_auth_failed:
        'Check user name and password. Many providers want a password made for this instead of that of the account.',
      mail_connection_failed: 'Check host and port: 587 with starttls and 465 with tls are usual.',
      mail_tls_failed:
        'Check the encryption: port 587 goes with starttls, 465 with tls. The certificate must be one for this host.',
      sql_auth_failed: 'Check user name and password, and from where the account may sign in.',
      sql_connection_failed: 'Check host and port, and that the server takes connections from here.',
      sql_tls_failed:
        'Check the encryption: verify needs a certificate for this host from a known authority.',
      sql_error: 'Check the name of the database and what the account may do.',
      ai_invalid_response: 'Check provider and base URL: with many servers it ends with /v1.',
      chat_auth_failed: 'Make a new token or address there and enter it.',
      chat_rate_limited: 'The service takes no more requests for now. Test again in a while.',
    },
  },
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
      api_key: {
        title: 'API key',
        hint: 'As the provider shows it. Empty for a server of your own that wants none.',
      },
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
