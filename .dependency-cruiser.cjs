// Who may import whom. Nothing points back, and nothing goes round in circles, types included.
// The picture: docs/adr/0020-packages.md.

/** What each package may import of the others, besides `messages`; tests and their helpers may import what stands above them, too. */
const MAY_IMPORT = {
  messages: [],
  engine: [],
  'admin-api': ['engine'],
  nodes: ['engine'],
  importer: ['engine', 'nodes'],
  errors: ['engine'],
  database: [],
  egress: ['engine'],
  secrets: ['database'],
  runtime: ['database', 'egress', 'engine'],
  files: ['database', 'engine', 'runtime'],
  identity: ['admin-api', 'database', 'engine', 'errors', 'secrets'],
  ports: ['database', 'egress', 'engine', 'runtime'],
  credentials: [
    'admin-api',
    'database',
    'egress',
    'engine',
    'errors',
    'identity',
    'nodes',
    'ports',
    'runtime',
    'secrets',
  ],
  service: [
    'admin-api',
    'credentials',
    'database',
    'egress',
    'engine',
    'errors',
    'files',
    'identity',
    'nodes',
    'ports',
    'runtime',
    'secrets',
  ],
  api: [
    'admin-api',
    'credentials',
    'database',
    'egress',
    'engine',
    'errors',
    'files',
    'identity',
    'importer',
    'nodes',
    'runtime',
    'secrets',
    'service',
  ],
  cli: [
    'admin-api',
    'api',
    'credentials',
    'database',
    'egress',
    'engine',
    'errors',
    'files',
    'identity',
    'importer',
    'nodes',
    'runtime',
    'secrets',
    'service',
  ],
  ui: ['admin-api', 'engine'],
  editor: ['admin-api', 'engine', 'ui'],
  'execution-pages': ['admin-api', 'editor', 'engine', 'ui'],
  web: ['admin-api', 'editor', 'engine', 'execution-pages', 'ui'],
};

/** Folders inside packages, lowest first: what stands earlier imports nothing that stands later. */
const FLOORS = {
  'packages/api/src': ['http', 'public', 'admin'],
  'packages/cli/src': ['settings', 'start', 'commands'],
  'packages/identity/src': [
    'values',
    'audit',
    'organisations',
    'sessions',
    'users',
    'api-keys',
    'invitations',
    'addresses',
    'members',
    'setup',
    'accounts',
    'single-sign-on',
  ],
  'packages/service/src': [
    'files',
    'idempotency',
    'executions',
    'callbacks',
    'schedules',
    'samples',
    'drafts',
    'trials',
    'workflows',
    'webhooks',
    'templates',
    'first-steps',
    'settings',
    'alerts',
    'system',
    'retention',
    'secret-rotation',
  ],
  'packages/ui/src': ['i18n', 'api', 'components'],
  'packages/editor/src': ['model', 'canvas', 'form', 'templates', 'schedule', 'fields', 'pins', 'node-panel'],
  'packages/execution-pages/src': ['common', 'approvals', 'list', 'timeline', 'detail', 'comparison'],
  'packages/web/src': ['pages', 'shell'],
  'packages/web/src/pages': [
    'account',
    'audit',
    'credentials',
    'keys',
    'people',
    'settings',
    'alerts',
    'system',
    'workflows',
    'editor',
  ],
  'packages/web/src/pages/editor': ['versions', 'draft', 'trying'],
};

/** Tests and what only they use. */
const TEST_CODE = [
  '^packages/testing/',
  '^packages/[^/]+/test/',
  '^packages/web/e2e/',
  '^packages/nodes/src/testing[a-z-]*\\.ts$',
  '^packages/[^/]+/src/.*(\\.test\\.ts|/testing\\.ts|/test-[a-z-]+\\.ts)$',
];
const NODE_BUILT_IN = { dependencyTypes: ['core'] };

const packageRules = Object.entries(MAY_IMPORT).map(([name, allowed]) => ({
  name: `${name}-imports-what-is-below-it`,
  severity: 'error',
  from: { path: `^packages/${name}/`, pathNot: TEST_CODE },
  to: { path: '^packages/', pathNot: `^packages/(${[name, 'messages', ...allowed].join('|')})/` },
}));

const floorRules = Object.entries(FLOORS).flatMap(([folder, floors]) =>
  floors.slice(0, -1).map((floor, index) => ({
    name: `${folder.split('/')[1]}-${floor}-imports-no-folder-above`,
    severity: 'error',
    from: { path: `^${folder}/${floor}/`, pathNot: TEST_CODE },
    to: { path: `^${folder}/(${floors.slice(index + 1).join('|')})/` },
  })),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...packageRules,
    ...floorRules,
    {
      name: 'every-package-has-a-rule',
      comment: 'A new package says above what it may import.',
      severity: 'error',
      from: { path: '^packages/', pathNot: `^packages/(${Object.keys(MAY_IMPORT).join('|')}|testing)/` },
      to: {},
    },
    {
      name: 'engine-is-pure',
      comment:
        'The engine knows neither Node nor PostgreSQL nor HTTP: messages, typebox, hashing, linear-time patterns and places in JSON in plain JavaScript are all it may import.',
      severity: 'error',
      from: { path: '^packages/engine/src/' },
      to: {
        path: '.',
        pathNot: [
          '^packages/(engine|messages)/src/',
          '^(packages/engine/)?node_modules/(typebox|@noble/hashes|jsonc-parser|re2js)/',
        ],
      },
    },
    {
      name: 'nodes-reach-outside-through-their-context',
      comment: 'Hashing is computing; files, sockets and the clock are not.',
      severity: 'error',
      from: { path: '^packages/nodes/src/', pathNot: TEST_CODE },
      to: { ...NODE_BUILT_IN, pathNot: '^(node:)?(crypto|buffer|util)$' },
    },
    {
      name: 'importer-is-pure',
      comment:
        'What comes from outside is only read: nothing in it may reach a file, the network or an evaluator.',
      severity: 'error',
      from: { path: '^packages/importer/src/', pathNot: TEST_CODE },
      to: {
        path: '.',
        pathNot: [
          '^packages/(importer|engine|messages|nodes)/src/',
          '^(packages/importer/)?node_modules/acorn/',
        ],
      },
    },
    {
      name: 'http-in-api-only',
      comment: 'Rules know no HTTP: requests and responses end in packages/api.',
      severity: 'error',
      from: { path: '^packages/(?!api/|cli/)[^/]+/src/', pathNot: TEST_CODE },
      to: { path: '^node_modules/(fastify|@fastify/[^/]+)/' },
    },
    {
      name: 'through-the-index',
      comment: 'These packages are entered by what their package.json exports.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/(engine|admin-api|nodes|importer)/',
        pathNot: [
          '^packages/$1/',
          '^packages/engine/src/index\\.ts$',
          '^packages/admin-api/src/index\\.ts$',
          '^packages/engine/test/support/index\\.ts$',
          '^packages/nodes/src/catalogue\\.ts$',
          '^packages/importer/src/index\\.ts$',
        ],
      },
    },
    {
      name: 'no-test-code-in-the-product',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: TEST_CODE },
      to: { path: [...TEST_CODE, '^node_modules/(vitest|fast-check)/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/web/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
