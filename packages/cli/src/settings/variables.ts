import { HOST_PATTERN, MONITORING_VARIABLES } from './monitoring-variables.ts';
import { TRACING_VARIABLES } from './tracing-variables.ts';
import {
  bytes,
  databaseUrl,
  integer,
  list,
  oneOf,
  proxies,
  secretKeys,
  text,
  type Variable,
  webAddress,
  webOrigin,
} from './variable.ts';
import { WORKER_VARIABLES } from './worker-variables.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const DATABASE_POOLING = ['session', 'transaction'] as const;
export type DatabasePooling = (typeof DATABASE_POOLING)[number];

const retentionDays = (status: string) =>
  integer({
    about: `Days after which executions with the status ${status} are deleted. Default: MILLRACE_RETENTION_DAYS`,
    fallback: '',
    example: '90',
    min: 1,
    max: 36_500,
    unit: 'days',
  });

/** Every variable. docs/configuration.md lists the same; a test compares them. */
export const VARIABLES = {
  PORT: integer({
    about: "Port of the API. If it isn't set and 8080 is taken, the next free port is used",
    fallback: '8080',
    example: '8080',
    min: 0,
    max: 65_535,
    zero: 'any free port',
  }),
  HOST: text({
    about: 'Address to listen on; 0.0.0.0 for all addresses of the machine',
    fallback: '127.0.0.1',
    example: '0.0.0.0',
    allowed: 'a host name or an IP address',
    pattern: HOST_PATTERN,
  }),
  DATABASE_URL: databaseUrl({
    about: 'PostgreSQL server to use instead of the embedded one',
    fallback: '',
    example: 'postgresql://millrace:secret@db.example.com:5432/millrace',
  }),
  MILLRACE_DATABASE_POOLING: oneOf({
    about:
      'Mode of the pooler between Millrace and PostgreSQL, if there is one. With transaction, processes look for work every MILLRACE_POLL_MS instead of being notified; see operations.md',
    fallback: 'session',
    example: 'transaction',
    values: DATABASE_POOLING,
  }),
  MILLRACE_DATA_DIR: text({
    about: 'Data folder of the embedded PostgreSQL; see operations.md for the default',
    fallback: '',
    example: '/var/lib/millrace/data/main',
    allowed: 'a path',
    pattern: /^[^\0]{1,4000}$/,
  }),
  MILLRACE_SECRET_KEY: secretKeys({
    about:
      'Key that encrypts stored credentials, the same for all processes. Default: a file in the data folder',
    fallback: '',
    most: 1,
  }),
  MILLRACE_SECRET_KEY_PREVIOUS: secretKeys({
    about: 'Previous values of MILLRACE_SECRET_KEY, needed until `millrace secrets rotate` has finished',
    fallback: '',
    most: 5,
  }),
  MILLRACE_PUBLIC_URL: webOrigin({
    about:
      'Address at which clients reach the service: the base of polling and webhook URLs. Default: from HOST and PORT',
    fallback: '',
    example: 'https://millrace.example.com',
  }),
  MILLRACE_TRUST_PROXY: proxies({
    about: 'Proxies whose X-Forwarded-For is trusted',
    fallback: 'off',
    example: '10.0.0.0/8',
  }),
  MILLRACE_SESSION_IDLE_HOURS: integer({
    about: 'Hours without use after which a person has to sign in again',
    fallback: '24',
    example: '8',
    min: 1,
    max: 8_760,
    unit: 'hours',
  }),
  MILLRACE_SESSION_DAYS: integer({
    about: 'Days after which a person has to sign in again in any case',
    fallback: '30',
    example: '7',
    min: 1,
    max: 365,
    unit: 'days',
  }),
  MILLRACE_OIDC_ISSUER: webAddress({
    about: 'OpenID Connect issuer that people can sign in with, as given by the provider',
    fallback: '',
    example: 'https://login.example.com',
  }),
  MILLRACE_OIDC_CLIENT_ID: text({
    about: 'Client ID of Millrace at the issuer',
    fallback: '',
    example: 'millrace',
    allowed: 'a text without spaces',
    pattern: /^\S{1,500}$/,
  }),
  MILLRACE_OIDC_CLIENT_SECRET: text({
    about: 'Client secret; not set for a public client',
    fallback: '',
    example: '$(cat client-secret)',
    allowed: 'a text without spaces',
    pattern: /^\S{1,2000}$/,
    secret: true,
  }),
  MILLRACE_OIDC_NAME: text({
    about: 'Name of the issuer on the button of the sign-in page',
    fallback: 'single sign-on',
    example: 'Example Login',
    allowed: 'a text of up to 60 characters',
    pattern: /^.{1,60}$/u,
  }),
  MILLRACE_OIDC_NEW_MEMBERS: oneOf({
    about:
      'Role in the first organisation for people who sign in through the issuer without an invitation; off: they are refused',
    fallback: 'off',
    example: 'viewer',
    values: ['off', 'viewer', 'editor'] as const,
  }),
  MILLRACE_LOG_LEVEL: oneOf({
    about: 'Lowest level that is logged',
    fallback: 'info',
    example: 'warn',
    values: LOG_LEVELS,
  }),
  ...MONITORING_VARIABLES,
  ...TRACING_VARIABLES,
  MILLRACE_PRINT_FIRST_KEY: oneOf({
    about:
      'Whether the first start prints an API key and the link that creates the first account; 0: get them with `millrace keys create` and `millrace setup-link`',
    fallback: '1',
    example: '0',
    values: ['1', '0'] as const,
  }),
  MILLRACE_RATE_LIMIT: integer({
    about: 'Requests per minute per API key',
    fallback: '6000',
    example: '600',
    min: 0,
    max: 10_000_000,
    zero: 'no limit',
  }),
  MILLRACE_WEBHOOK_RATE_LIMIT: integer({
    about: 'Calls per minute per webhook, callback or approval',
    fallback: '6000',
    example: '600',
    min: 0,
    max: 10_000_000,
    zero: 'no limit',
  }),
  MILLRACE_WAITING_CALLERS: integer({
    about: 'Callers of webhooks that one process lets wait for a response of their workflow at the same time',
    fallback: '1000',
    example: '5000',
    min: 0,
    max: 1_000_000,
    zero: 'no limit',
  }),
  MILLRACE_WAITING_CALLERS_PER_ORGANISATION: integer({
    about: 'The same for each organisation',
    fallback: '200',
    example: '1000',
    min: 0,
    max: 1_000_000,
    zero: 'no limit',
  }),
  MILLRACE_FAILED_AUTH_LIMIT: integer({
    about: 'Failed authentications per minute per source address',
    fallback: '30',
    example: '10',
    min: 1,
    max: 1_000_000,
  }),
  MILLRACE_BODY_LIMIT: bytes({
    about: 'Maximum size of a request body',
    fallback: '1MiB',
    example: '2MiB',
    min: '1KiB',
    max: '256MiB',
  }),
  MILLRACE_BODY_BUDGET: bytes({
    about:
      'Maximum size of all request bodies that one process receives at the same time; one organisation or address gets half of it at most. Default: a sixteenth of the memory that Node may use',
    fallback: '',
    example: '64MiB',
    min: '1MiB',
    max: '16GiB',
  }),
  MILLRACE_FLOW_BODY_LIMIT: bytes({
    about: 'Maximum size of a request body with flow_data',
    fallback: '5MiB',
    example: '10MiB',
    min: '1KiB',
    max: '256MiB',
  }),
  MILLRACE_BATCH_BODY_LIMIT: bytes({
    about: 'Maximum size of a request body with a batch of starts',
    fallback: '4MiB',
    example: '8MiB',
    min: '1KiB',
    max: '256MiB',
  }),
  MILLRACE_MAX_NODES: integer({
    about: 'Maximum number of nodes in a workflow',
    fallback: '2000',
    example: '5000',
    min: 1,
    max: 100_000,
  }),
  MILLRACE_MAX_FOLDERS: integer({
    about: 'Folders of workflows that one organisation may have',
    fallback: '1000',
    example: '200',
    min: 0,
    max: 10_000,
  }),
  MILLRACE_MAX_FAVOURITES: integer({
    about: 'Workflows that one person may mark as favourites in an organisation',
    fallback: '200',
    example: '50',
    min: 0,
    max: 1_000,
  }),
  MILLRACE_JSON_DEPTH: integer({
    about: 'Maximum nesting of JSON in requests',
    fallback: '100',
    example: '50',
    min: 10,
    max: 500,
  }),
  MILLRACE_NODE_OUTPUT_LIMIT: bytes({
    about: "Maximum size of one node's output, as JSON",
    fallback: '16MiB',
    example: '4MiB',
    min: '1KiB',
    max: '128MiB',
  }),
  MILLRACE_EXECUTION_LIMIT: bytes({
    about: 'Maximum size of everything that is stored for one execution: its input and all outputs, as JSON',
    fallback: '64MiB',
    example: '256MiB',
    min: '1KiB',
    max: '512MiB',
  }),
  MILLRACE_NODE_STEPS: integer({
    about:
      'Steps of work that one run of a node may spend on its data: filtering, sorting, joining, masking. A step takes about 0.1 to 0.2 microseconds, in pieces between other work',
    fallback: '50000000',
    example: '200000000',
    min: 10_000,
    max: 10_000_000_000,
  }),
  MILLRACE_HEADER_LIMIT: bytes({
    about: 'Maximum size of a request head',
    fallback: '16KiB',
    example: '32KiB',
    min: '4KiB',
    max: '1MiB',
  }),
  MILLRACE_HEADERS_TIMEOUT_MS: integer({
    about: 'Time a client has to send a request head',
    fallback: '10000',
    example: '5000',
    min: 100,
    max: 600_000,
    unit: 'milliseconds',
  }),
  MILLRACE_MAX_CONNECTIONS: integer({
    about:
      'Maximum number of open client connections. Default: half of the open files that the system allows, at most 10000; never more than three quarters of them',
    fallback: '',
    example: '20000',
    min: 10,
    max: 1_000_000,
  }),
  MILLRACE_MAX_CONNECTIONS_PER_ADDRESS: integer({
    about:
      'Maximum number of open connections per source address, not counting trusted proxies. Default: half of MILLRACE_MAX_CONNECTIONS',
    fallback: '',
    example: '100',
    min: 0,
    max: 1_000_000,
    zero: 'no limit',
  }),
  ...WORKER_VARIABLES,
  MILLRACE_RETENTION_DAYS: integer({
    about: 'Days after which finished executions are deleted',
    fallback: '30',
    example: '90',
    min: 1,
    max: 36_500,
    unit: 'days',
  }),
  MILLRACE_RETENTION_DAYS_COMPLETED: retentionDays('completed'),
  MILLRACE_RETENTION_DAYS_FAILED: retentionDays('failed'),
  MILLRACE_RETENTION_DAYS_CANCELLED: retentionDays('cancelled'),
  MILLRACE_STATISTICS_DAYS: integer({
    about: 'Days after which the counts of runs that the charts of workflows show are deleted',
    fallback: '400',
    example: '90',
    min: 1,
    max: 36_500,
    unit: 'days',
  }),
  MILLRACE_AUDIT_RETENTION_DAYS: integer({
    about: 'Days after which entries of the audit log are deleted',
    fallback: '365',
    example: '730',
    min: 1,
    max: 36_500,
    unit: 'days',
  }),
  MILLRACE_AUDIT_VERIFY_HOURS: integer({
    about:
      'How often each audit log is compared with its chain of hashes, in hours. `millrace audit verify` does so at any time',
    fallback: '24',
    example: '168',
    min: 0,
    max: 8_760,
    unit: 'hours',
    zero: 'never',
  }),
  MILLRACE_ALLOW_HOSTS: list({
    about: 'Hosts in private networks that nodes may call; none by default',
    fallback: '',
    example: 'intranet.example.com,10.1.2.3:8080,10.2.0.0/16',
    allowed:
      'host names, *.suffixes, IP addresses (each optionally with :port) or networks, separated by commas',
    pattern: /./,
  }),
} as const satisfies Record<string, Variable<unknown>>;
