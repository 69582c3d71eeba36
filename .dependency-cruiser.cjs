// Who may import whom: web -> admin-api -> engine, server -> nodes -> engine, server -> admin-api; nothing points back, and nothing goes round in circles.
const room = (name) => `^packages/${name}/`;
/** Tests and what only they use. */
const TEST_CODE = '^packages/[^/]+/src/.*(\\.test\\.ts|/testing\\.ts|/test-[a-z-]+\\.ts)$';
const NODE_BUILT_IN = { dependencyTypes: ['core'] };

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Types may refer to each other: they are gone when the program runs.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'engine-points-nowhere',
      severity: 'error',
      from: { path: room('engine') },
      to: { path: '^packages/', pathNot: room('engine') },
    },
    {
      name: 'engine-is-pure',
      comment:
        'The engine knows neither Node nor PostgreSQL nor HTTP: typebox and hashing in plain JavaScript is all it may import.',
      severity: 'error',
      from: { path: '^packages/engine/src/' },
      to: { path: '.', pathNot: ['^packages/engine/src/', '^node_modules/(typebox|@noble/hashes)/'] },
    },
    {
      name: 'nodes-know-the-engine-only',
      severity: 'error',
      from: { path: room('nodes') },
      to: { path: '^packages/', pathNot: `^packages/(nodes|engine)/` },
    },
    {
      name: 'nodes-reach-outside-through-their-context',
      comment: 'Hashing is computing; files, sockets and the clock are not.',
      severity: 'error',
      from: { path: '^packages/nodes/src/', pathNot: TEST_CODE },
      to: { ...NODE_BUILT_IN, pathNot: '^(node:)?(crypto|buffer|util)$' },
    },
    {
      name: 'web-knows-the-engine-and-the-admin-api-only',
      comment: 'Its browser tests start the service that it belongs to.',
      severity: 'error',
      from: { path: room('web'), pathNot: '^packages/web/e2e/' },
      to: { path: '^packages/', pathNot: `^packages/(web|admin-api|engine)/` },
    },
    {
      name: 'admin-api-knows-the-types-of-the-engine-only',
      severity: 'error',
      from: { path: room('admin-api') },
      to: { path: '^packages/', pathNot: `^packages/(admin-api|engine)/` },
    },
    {
      name: 'server-is-the-top',
      severity: 'error',
      from: { path: room('server') },
      to: { path: room('web') },
    },
    {
      name: 'through-the-door',
      comment: 'Another package is entered by what its package.json exports.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/', pathNot: '^packages/web/e2e/' },
      to: {
        path: '^packages/',
        pathNot: [
          '^packages/$1/',
          '^packages/engine/src/index\\.ts$',
          '^packages/admin-api/src/index\\.ts$',
          '^packages/server/test/support/',
          '^packages/engine/test/support/index\\.ts$',
          '^packages/nodes/src/catalogue\\.ts$',
        ],
      },
    },
    {
      name: 'no-test-code-in-the-product',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: TEST_CODE },
      to: { path: [TEST_CODE, '^packages/[^/]+/test/', '^node_modules/(vitest|fast-check)/'] },
    },
    {
      name: 'database-below-everything',
      severity: 'error',
      from: { path: '^packages/server/src/db/' },
      to: { path: '^packages/server/src/(features|http|worker)/' },
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
