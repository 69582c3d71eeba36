import {
  AI_PROVIDERS,
  CHAT_SERVICES,
  type ChatServiceName,
  type CredentialType,
  DATABASE_KINDS,
  HTTP_CREDENTIAL_TYPES,
} from '@millrace/engine';
import { type TObject, Type } from 'typebox';
import { httpCredentialSchemas } from './schema-http.ts';
import {
  choice,
  fields,
  labelled,
  optionalSecret,
  optionalText,
  secret,
  shownFor,
  text,
} from './schema-parts.ts';

const HOST_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,252}|[0-9A-Fa-f:.]*)$|^\\[[0-9A-Fa-f:.]+\\]$';

/** Names and addresses with ports, or without: then it is 9092. */
const BROKERS_PATTERN =
  '^\\s*([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(\\s*,\\s*([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?){0,19}\\s*$';
const SIGNING_IN = { mechanism: ['plain', 'scram_sha_256', 'scram_sha_512', 'oauth_bearer'] };
const BY_TOKEN = { mechanism: ['oauth_bearer'] };
const ENCRYPTED = { tls: ['require', 'verify'] };

function host(title: string, description: string) {
  return Type.String({ title, description, pattern: HOST_PATTERN, maxLength: 255 });
}

function port(fallback: number) {
  const description = 'TCP port, 1 to 65535.';
  return Type.Integer({ title: 'Port', description, minimum: 1, maximum: 65_535, default: fallback });
}

/** Of one certificate with those between it and its authority. */
const MAX_PEM = 65_536;

function multiline<Schema extends object>(schema: Schema): Schema {
  return { ...schema, 'x-multiline': true };
}

function tls() {
  const schema = choice(
    'Encryption',
    'verify: the certificate is checked. require: encrypted only. off: in clear.',
    ['off', 'require', 'verify'],
    'verify',
  );
  return labelled(schema, { off: 'Off', require: 'Required', verify: 'Required, with a valid certificate' });
}

/** A field that only some chat services have. */
function onlyFor<Schema extends object>(schema: Schema, services: readonly ChatServiceName[]): Schema {
  return shownFor(schema, { service: services });
}

/**
 * The fields of each type of credential, besides name, type and hosts. Fields marked `x-secret` are stored in encrypted form
 * and never shown; the rest are shown. Fields without a default are required.
 */
export const credentialSchemas = {
  ...httpCredentialSchemas,
  secret: fields('Signing secret', 'A key that signs or verifies messages. It never leaves the service.', {
    value: secret('Secret', 'As the other side shows it.'),
  }),
  smtp: fields('Mail server', 'An SMTP server that takes mails.', {
    host: host('Server', 'Host name, such as smtp.example.com.'),
    port: port(587),
    security: labelled(
      choice(
        'Encryption',
        'starttls: required after the greeting (port 587). tls: from the first byte (port 465). none: in clear.',
        ['tls', 'starttls', 'none'],
        'starttls',
      ),
      { tls: 'TLS', starttls: 'STARTTLS', none: 'None' },
    ),
    username: optionalText('User name', 'Empty when the server asks for none.', 255),
    password: optionalSecret('Password', 'Empty when the server asks for none.'),
  }),
  imap: fields('Mailbox', 'A mailbox on an IMAP server that mails are read from.', {
    host: host('Server', 'Host name, such as imap.example.com.'),
    port: port(993),
    security: labelled(
      choice(
        'Encryption',
        'tls: from the first byte (port 993). starttls: required after the greeting (port 143). none: in clear.',
        ['tls', 'starttls', 'none'],
        'tls',
      ),
      { tls: 'TLS', starttls: 'STARTTLS', none: 'None' },
    ),
    username: text('User name', 'Often the whole e-mail address.'),
    password: secret('Password', 'Some providers want a password made for apps.'),
  }),
  sql: fields(
    'Database',
    'A PostgreSQL, MySQL, SQL Server or MongoDB server. Use an account that may do no more than needed.',
    {
      dialect: labelled(choice('Kind', 'Which server it is.', DATABASE_KINDS, 'postgresql'), {
        postgresql: 'PostgreSQL',
        mysql: 'MySQL',
        sqlserver: 'SQL Server',
        mongodb: 'MongoDB',
      }),
      host: host('Server', 'Host name or address.'),
      port: port(5432),
      database: text('Database', 'Its name.'),
      username: text('User name', 'Of the account.'),
      password: secret('Password', 'May be empty.', 0),
      tls: tls(),
    },
  ),
  redis: fields('Redis', 'A Redis or Valkey server. Use a user that may do no more than needed.', {
    host: host('Server', 'Host name or address.'),
    port: port(6379),
    database: Type.Integer({
      title: 'Database',
      description: 'Its number.',
      minimum: 0,
      maximum: 65_535,
      default: 0,
    }),
    username: optionalText('User name', 'Empty for the default user.', 255),
    password: optionalSecret('Password', 'Empty when the server asks for none.'),
    tls: tls(),
  }),
  mqtt: fields('MQTT broker', 'A broker that speaks MQTT 3.1.1, such as Mosquitto, EMQX or HiveMQ.', {
    host: host('Broker', 'Host name or address.'),
    port: port(8883),
    username: optionalText('User name', 'Empty when the broker asks for none.', 255),
    password: optionalSecret('Password', 'Empty when the broker asks for none.'),
    tls: tls(),
  }),
  kafka: fields(
    'Kafka cluster',
    'Brokers that speak the protocol of Apache Kafka, such as Redpanda, Confluent Cloud or Amazon MSK.',
    {
      brokers: Type.String({
        title: 'Brokers',
        description: 'One or more, as host:port, separated by commas. They name the other ones.',
        pattern: BROKERS_PATTERN,
        maxLength: 1_000,
      }),
      tls: tls(),
      mechanism: labelled(
        choice(
          'Sign-in',
          'scram_sha_256, scram_sha_512: the password stays here. plain: it is sent, so only with encryption. oauth_bearer: a token that the token URL gives to a client. none: no sign-in, or by the certificate.',
          ['none', 'plain', 'scram_sha_256', 'scram_sha_512', 'oauth_bearer'],
          'scram_sha_512',
        ),
        {
          none: 'None',
          plain: 'PLAIN',
          scram_sha_256: 'SCRAM-SHA-256',
          scram_sha_512: 'SCRAM-SHA-512',
          oauth_bearer: 'OAUTHBEARER',
        },
      ),
      username: shownFor(
        optionalText('User name', 'Or the API key of a hosted cluster, or the client ID.', 255),
        SIGNING_IN,
      ),
      password: shownFor(optionalSecret('Password', 'Or the secret of an API key or client.'), SIGNING_IN),
      token_url: shownFor(
        optionalText('Token URL', 'Issues tokens for the client ID and secret (client credentials).'),
        BY_TOKEN,
      ),
      scope: shownFor(optionalText('Scope', 'Separated by spaces. Empty: none.', 4096), BY_TOKEN),
      extensions: shownFor(
        optionalText(
          'Extensions',
          'SASL extensions to send along, such as logicalCluster=lkc-1, identityPoolId=pool-1.',
          1_000,
        ),
        BY_TOKEN,
      ),
      certificate: shownFor(
        multiline(
          optionalText('Client certificate', 'PEM, shown to brokers that ask for one (mTLS).', MAX_PEM),
        ),
        ENCRYPTED,
      ),
      private_key: shownFor(
        multiline(optionalSecret('Private key', 'PEM, of the client certificate.')),
        ENCRYPTED,
      ),
      passphrase: shownFor(optionalSecret('Passphrase', 'Of the private key, if it has one.'), ENCRYPTED),
      authority: shownFor(
        multiline(
          optionalText(
            "The brokers' authority",
            'PEM of its certificate, if it is not a public one.',
            MAX_PEM,
          ),
        ),
        ENCRYPTED,
      ),
    },
  ),
  ai: fields('AI provider', 'Whose models answer.', {
    provider: labelled(
      choice('Provider', 'Whose interface the server speaks.', AI_PROVIDERS, 'openai_compatible'),
      { openai_compatible: 'OpenAI-compatible', anthropic: 'Anthropic', google: 'Google' },
    ),
    base_url: optionalText(
      'Base URL',
      "Of the interface, such as https://api.example.com/v1. Empty: the provider's own.",
    ),
    api_key: optionalSecret(
      'API key',
      'As the provider shows it. Empty for a server of your own that wants none.',
    ),
  }),
  chat: fields('Chat', 'A chat service that takes messages.', {
    service: labelled(choice('Service', 'Which one it is.', CHAT_SERVICES), {
      slack: 'Slack',
      teams: 'Microsoft Teams',
      discord: 'Discord',
      google_chat: 'Google Chat',
      mattermost: 'Mattermost',
      telegram: 'Telegram',
      line: 'LINE',
      chatwork: 'Chatwork',
    }),
    webhook_url: onlyFor(
      optionalSecret('Webhook URL', 'Address of an incoming webhook, for services that have them.'),
      ['slack', 'teams', 'discord', 'google_chat', 'mattermost'],
    ),
    token: onlyFor(
      optionalSecret('Token', 'Of a bot or an API, for services that have them.'),
      CHAT_SERVICES.filter((service) => service !== 'teams'),
    ),
    base_url: optionalText(
      'Server',
      "Of a self-hosted service, such as https://chat.example.com. Empty: the service's own.",
    ),
  }),
} as const satisfies Record<CredentialType, TObject>;

/** Types that are sent to the hosts they are bound to; the others name their host in a field, or are never sent. */
export const BOUND_TYPES: readonly CredentialType[] = HTTP_CREDENTIAL_TYPES;

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly default?: unknown;
  readonly 'x-secret'?: true;
}

/** A type's fields by name, with their schemas. */
export function fieldsOf(type: CredentialType): readonly (readonly [name: string, schema: FieldSchema])[] {
  return Object.entries(credentialSchemas[type].properties) as [string, FieldSchema][];
}

export function isSecretField([, schema]: readonly [string, FieldSchema]): boolean {
  return schema['x-secret'] === true;
}

/** The type's name for people. */
export function titleOfType(type: CredentialType): string {
  return (credentialSchemas[type] as { readonly title?: string }).title ?? type;
}
