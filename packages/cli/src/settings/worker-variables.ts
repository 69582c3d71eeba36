import { type BucketPlace, parseBucket } from './bucket.ts';
import { bytes, integer, text, type Variable } from './variable.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Those of executions: how many run, wait and are stored, and what they may take. */
export const WORKER_VARIABLES = {
  MILLRACE_WORKER_CONCURRENCY: integer({
    about: 'Maximum number of executions that one process runs at the same time',
    fallback: '200',
    example: '50',
    min: 1,
    max: 10_000,
  }),
  MILLRACE_ORGANISATION_SLOTS_PERCENT: integer({
    about:
      'How many of these, in percent, one organisation may use while no other runs anything; the rest stays free for the others',
    fallback: '75',
    example: '100',
    min: 1,
    max: 100,
  }),
  MILLRACE_DATA_BUDGET: bytes({
    about:
      'Size of all inputs, outputs and responses, as JSON, that the executions of one process hold in memory at the same time; what would exceed it waits. One organisation gets MILLRACE_ORGANISATION_SLOTS_PERCENT of it at most. Default: a fortieth of the memory that Node may use, because JSON may take 22 times its size there',
    fallback: '',
    example: '256MiB',
    min: '1MiB',
    max: '64GiB',
  }),
  MILLRACE_HOST_CALLS: integer({
    about:
      'Calls that one process makes to one host at the same time; further ones wait, without taking a slot',
    fallback: '100',
    example: '500',
    min: 0,
    max: 100_000,
    zero: 'no limit',
  }),
  MILLRACE_ORGANISATION_HOST_CALLS: integer({
    about: 'Calls that one organisation makes to one host at the same time, in all processes together',
    fallback: '50',
    example: '10',
    min: 0,
    max: 100_000,
    zero: 'no limit',
  }),
  MILLRACE_ORGANISATION_HOST_RATE: integer({
    about: 'Calls to one host that one organisation begins per second, in all processes together',
    fallback: '0',
    example: '20',
    min: 0,
    max: 100_000,
    zero: 'no limit',
  }),
  MILLRACE_HOST_MAX_PAUSE_S: integer({
    about:
      'Longest time for which a response with Retry-After makes further calls of its organisation to that host wait',
    fallback: '900',
    example: '60',
    min: 0,
    max: 86_400,
    unit: 'seconds',
    zero: 'none',
  }),
  MILLRACE_ORGANISATION_QUEUE_LIMIT: integer({
    about: 'Executions of one organisation that may wait for a worker; further starts get 429 queue_full',
    fallback: '20000',
    example: '5000',
    min: 0,
    max: 1_000_000,
    zero: 'no limit',
  }),
  MILLRACE_QUEUE_LIMIT: integer({
    about:
      'Executions of all organisations that may wait for a worker; further starts get 503, except those of organisations with nothing waiting',
    fallback: '100000',
    example: '20000',
    min: 0,
    max: 10_000_000,
    zero: 'no limit',
  }),
  MILLRACE_ORGANISATION_EXECUTIONS_STORAGE: bytes({
    about:
      'Size of the inputs and node outputs that one organisation may store; at this size, starts get 429 storage_full until retention makes room',
    fallback: '100GiB',
    example: '20GiB',
    min: '1KiB',
    max: '1000000GiB',
    zero: 'no limit',
  }),
  MILLRACE_ORGANISATION_DATA_STORAGE: bytes({
    about:
      'Size of the data.store entries and ai.vectors texts that one organisation may store; beyond it, writes fail',
    fallback: '10GiB',
    example: '1GiB',
    min: '1KiB',
    max: '1000000GiB',
    zero: 'no limit',
  }),
  MILLRACE_FILES_FOLDER: text({
    about:
      'Folder with the content of files. All processes need the same one, and it belongs in every backup. Default: files in the data folder',
    fallback: '',
    example: '/srv/millrace/files',
    allowed: 'the path of a folder',
    pattern: /^[^\0]{1,4096}$/,
  }),
  MILLRACE_FILES_STORE: {
    about:
      'Bucket of an S3-compatible service with the content of files, instead of a folder; what follows the name of the bucket begins the keys of all objects',
    fallback: '',
    example: 's3://millrace-files/production',
    allowed: 's3:// with the name of a bucket and, if wanted, a prefix',
    parse: parseBucket,
  } satisfies Variable<BucketPlace>,
  MILLRACE_FILES_S3_ENDPOINT: {
    about: 'Address of the S3-compatible service. Default: that of Amazon S3 in the region',
    fallback: '',
    example: 'https://minio.example.com:9000',
    allowed: 'an http or https URL without a path',
    parse: (given) => (URL.canParse(given) && isBase(new URL(given)) ? new URL(given).origin : undefined),
  } satisfies Variable<string>,
  MILLRACE_FILES_S3_REGION: text({
    about: 'Region of the bucket',
    fallback: 'us-east-1',
    example: 'eu-central-1',
    allowed: 'the name of a region',
    pattern: /^[a-z0-9-]{1,60}$/,
  }),
  MILLRACE_FILES_S3_ACCESS_KEY: text({
    about: 'ID of the access key for the bucket',
    fallback: '',
    example: 'AKIAIOSFODNN7EXAMPLE',
    allowed: 'a text without spaces',
    pattern: /^\S{1,200}$/,
  }),
  MILLRACE_FILES_S3_SECRET_KEY: text({
    about: 'Secret access key for the bucket',
    fallback: '',
    example: '$(cat s3-secret-key)',
    allowed: 'a text without spaces',
    pattern: /^\S{1,500}$/,
    secret: true,
  }),
  MILLRACE_FILE_LIMIT: bytes({
    about: 'Size of one file',
    fallback: '512MiB',
    example: '5GiB',
    min: '1KiB',
    max: '1000GiB',
  }),
  MILLRACE_ORGANISATION_FILES_STORAGE: bytes({
    about: 'Size of the files that one organisation may store; beyond it, uploads are refused and nodes fail',
    fallback: '10GiB',
    example: '100GiB',
    min: '1KiB',
    max: '1000000GiB',
    zero: 'no limit',
  }),
  MILLRACE_FILES_FREE_DISK: bytes({
    about: 'Space that files leave free on the disk of their folder',
    fallback: '1GiB',
    example: '10GiB',
    min: '1MiB',
    max: '1000000GiB',
    zero: 'files may fill the disk',
  }),
  MILLRACE_UNUSED_FILES_HOURS: integer({
    about: 'How long an uploaded file is kept while no execution uses it',
    fallback: '24',
    example: '168',
    min: 1,
    max: 8_760,
    unit: 'hours',
  }),
  MILLRACE_SHED_LOOP_DELAY_MS: integer({
    about: 'Average delay of the event loop from which on a process refuses new starts and reads with 503',
    fallback: '1000',
    example: '500',
    min: 0,
    max: 60_000,
    unit: 'milliseconds',
    zero: 'never',
  }),
  MILLRACE_SHED_POOL_WAIT_MS: integer({
    about:
      'Time that something has waited for a database connection from which on a process refuses new starts and reads with 503',
    fallback: '1000',
    example: '500',
    min: 0,
    max: 60_000,
    unit: 'milliseconds',
    zero: 'never',
  }),
  MILLRACE_LEASE_MS: integer({
    about: 'Time after which the executions of a worker that stopped responding are taken over',
    fallback: '30000',
    example: '60000',
    min: 1000,
    max: DAY_MS,
    unit: 'milliseconds',
  }),
  MILLRACE_HEARTBEAT_MS: integer({
    about: 'Interval between heartbeats of a worker; less than half of MILLRACE_LEASE_MS',
    fallback: '10000',
    example: '15000',
    min: 100,
    max: DAY_MS,
    unit: 'milliseconds',
  }),
  MILLRACE_MAX_RATE_WAIT_S: integer({
    about:
      "Longest time for which a workflow's rate may hold a start over the API, a webhook or a rerun; beyond it, they get 429 `rate_queue_full`",
    fallback: '86400',
    example: '3600',
    min: 0,
    max: 31_536_000,
    unit: 'seconds',
  }),
  MILLRACE_POLL_MS: integer({
    about:
      'Interval at which the queue is polled when there are no notifications; while nothing runs or is due, five seconds, or one such interval if it is longer',
    fallback: '1000',
    example: '5000',
    min: 10,
    max: 600_000,
    unit: 'milliseconds',
  }),
  MILLRACE_SHUTDOWN_GRACE_MS: integer({
    about: 'Time that running executions have to finish on shutdown before they go back to the queue',
    fallback: '10000',
    example: '30000',
    min: 0,
    max: 3_600_000,
    unit: 'milliseconds',
  }),
  MILLRACE_INLINE_WAIT_MS: integer({
    about: 'Maximum wait during which an execution stays in its worker; longer waits are parked',
    fallback: '5000',
    example: '1000',
    min: 0,
    max: 60_000,
    unit: 'milliseconds',
  }),
  MILLRACE_RUN_AHEAD_NODES: integer({
    about:
      'Maximum number of nodes of an execution that are run before it is stored; only nodes without an outside effect are',
    fallback: '100',
    example: '20',
    min: 0,
    max: 10_000,
    zero: 'none',
  }),
  MILLRACE_RUN_AHEAD_MS: integer({
    about:
      'Time within one turn of the event loop after which no further node is run before its execution is stored',
    fallback: '10',
    example: '2',
    min: 1,
    max: 100,
    unit: 'milliseconds',
  }),
  MILLRACE_RUN_AHEAD_SIZE: bytes({
    about:
      'Maximum size of the input, and of a node output, with which an execution is run further before it is stored',
    fallback: '64KiB',
    example: '16KiB',
    min: '1KiB',
    max: '16MiB',
  }),
} as const;

/** Neither a path nor a password nor a query. */
function isBase({ protocol, pathname, search, hash, username, password }: URL): boolean {
  return (
    (protocol === 'http:' || protocol === 'https:') &&
    `${search}${hash}${username}${password}` === '' &&
    pathname === '/'
  );
}
