import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

/** A text file of the project; `path` is relative to its root, with `/`. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** A rule's finding: where, and how to fix it. */
export interface Untidiness {
  readonly path: string;
  readonly problem: string;
}

/** Rules see the whole project, so that they can compare files. */
export interface TidyRule {
  readonly name: string;
  find(files: readonly ProjectFile[]): Untidiness[];
}

const NOT_OURS = new Set(['node_modules', '.git', '.millrace', 'coverage', 'dist', '.pytest_cache']);
const TEXT =
  /\.(ts|tsx|mjs|cjs|js|json|sql|md|css|html|sh|yml|yaml)$|^\.ci\/|^\.(gitignore|npmrc)$|^(LICENSE|Dockerfile)$/;
const MAX_LINES_OF_CODE = 500;
const MAX_TEST_HELPER_LINES = 400;

/** Every text file under `root` that belongs to the project. */
export function readProject(root: string): ProjectFile[] {
  const visit = (folder: string): ProjectFile[] =>
    readdirSync(join(root, folder)).flatMap((name) => {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (NOT_OURS.has(name)) return [];
      if (statSync(join(root, path)).isDirectory()) return visit(path);
      return TEXT.test(path) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
    });
  return visit('');
}

const isCode = (path: string): boolean => /\.(ts|tsx|mjs|cjs|js)$/.test(path);
const isTest = (path: string): boolean =>
  /\.test\.tsx?$|(^|\/)test\/|^packages\/testing\/|\.spec\.tsx?$/.test(path);
const isProduct = (path: string): boolean => /^packages\/[^/]+\/src\//.test(path) && !isTest(path);
/** This tool and its test have to contain the patterns they search for. */
const isTidy = (path: string): boolean => /^tools\/tidy\.(test\.)?ts$/.test(path);

/** A rule that checks one line at a time. */
function lineRule(
  name: string,
  applies: (path: string) => boolean,
  pattern: RegExp,
  problem: string,
): TidyRule {
  return {
    name,
    find: (files) =>
      files
        .filter(({ path }) => applies(path) && !isTidy(path))
        .flatMap(({ path, text }) =>
          text
            .split('\n')
            .flatMap((line, index) =>
              pattern.test(line)
                ? [{ path: `${path}:${index + 1}`, problem: `${problem}: ${line.trim()}` }]
                : [],
            ),
        ),
  };
}

const fileSizes: TidyRule = {
  name: 'a file has one subject and fits in the head',
  find: (files) =>
    files
      .filter(({ path }) => isCode(path))
      .flatMap(({ path, text }) => {
        const lines = text.split('\n').length - 1;
        const most = /\/test\/support\/|^packages\/testing\//.test(path)
          ? MAX_TEST_HELPER_LINES
          : MAX_LINES_OF_CODE;
        return lines > most
          ? [{ path, problem: `${lines} lines, at most ${most}: split it by subject` }]
          : [];
      }),
};

const kebabCaseNames: TidyRule = {
  name: 'file names are kebab-case',
  find: (files) =>
    files
      .filter(
        ({ path }) =>
          !/^(README|ARCHITECTURE|CHANGELOG|SPEC|LICENSE|CONTRIBUTING|SECURITY|PULL_REQUEST_TEMPLATE|Dockerfile|Chart)(\.md|\.yaml)?$/.test(
            basename(path),
          ),
      )
      .filter(
        ({ path }) =>
          !/^\.?[a-z0-9]+([-.][a-z0-9]+)*$/.test(basename(path)) && !path.includes('/migrations/'),
      )
      .map(({ path }) => ({ path, problem: 'rename it to kebab-case' })),
};

const migrationNumbers: TidyRule = {
  name: 'migrations are numbered without gaps',
  find: (files) =>
    files
      .filter(({ path }) => path.includes('/migrations/'))
      .toSorted((a, b) => a.path.localeCompare(b.path))
      .flatMap(({ path }, index) => {
        const expected = String(index + 1).padStart(4, '0');
        const fits = new RegExp(`/migrations/${expected}_[a-z0-9]+(_[a-z0-9]+)*\\.sql$`).test(path);
        return fits ? [] : [{ path, problem: `expected ${expected}_name.sql at this place` }];
      }),
};

const nodesHaveTests: TidyRule = {
  name: 'every node has a test beside it',
  find: (files) => {
    const paths = new Set(files.map(({ path }) => path));
    return [...paths]
      .filter(
        (path) =>
          /^packages\/(nodes\/src\/nodes|(ai-nodes|triggers)\/src)\/[^/]+\.ts$/.test(path) &&
          !isTest(path) &&
          !path.endsWith('/index.ts'),
      )
      .filter((path) => !paths.has(path.replace(/\.ts$/, '.test.ts')))
      .map((path) => ({ path, problem: 'has no .test.ts beside it' }));
  },
};

/** Statements whose text can't be a parameter, and why. */
const SQL_MADE_FROM_STRINGS_ON_PURPOSE = new Map<string, string>([
  [
    'packages/listening/src/postgresql/connect.ts',
    'LISTEN takes no parameters; the channel is quoted as an identifier',
  ],
  ['packages/operations/src/backup/file-contents.ts', 'the table is the one of the target, of two constants'],
  ['packages/operations/src/backup/moved-flows.ts', 'tables and columns are from a constant list'],
  ['packages/operations/src/backup/moved-rows.ts', 'tables and columns are from constant lists'],
  [
    'packages/runtime/src/lease-statements.ts',
    'one statement claims in several ways, made once from constant parts; all values are parameters',
  ],
  ['packages/runtime/src/limited-statements.ts', 'as the other way of claiming'],
  ['packages/runtime/src/start-permits.ts', 'a part of the statement below, made in the same way'],
  [
    'packages/runtime/src/start-statements.ts',
    'one statement in several ways, made once from constant parts',
  ],
  [
    'packages/service/src/executions/admin-scans.ts',
    'a scan of one of three indexes is put in; its text is made from constants, and all values are parameters',
  ],
]);
const SQL_START =
  /^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|LISTEN|NOTIFY|SET|BEGIN|COPY) /;

/** Fragments shared by several statements: a constant, or the columns of a constant `rowSet`. */
const SQL_CONSTANT = /^[A-Z][A-Z0-9_]*(\.sql|\.unseenSql|\.list\(('[a-z]+')?\))?$/;

const plainSql: TidyRule = {
  name: 'SQL is plain text, never built from strings',
  find: (files) =>
    files
      .filter(({ path }) => isProduct(path) && isCode(path) && !SQL_MADE_FROM_STRINGS_ON_PURPOSE.has(path))
      .flatMap(({ path, text }) =>
        sqlBuiltFromStrings(path, text).map((line) => ({
          path: `${path}:${line}`,
          problem: 'put the value into a parameter ($1), not into the text',
        })),
      ),
};

/** Lines with template literals with `${}` or `+` chains that start like a statement. */
function sqlBuiltFromStrings(path: string, text: string): number[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines: number[] = [];
  const visit = (node: ts.Node): void => {
    const start = ts.isTemplateExpression(node)
      ? node.templateSpans.every(({ expression }) => SQL_CONSTANT.test(expression.getText(source)))
        ? ''
        : node.head.text
      : ts.isBinaryExpression(node) &&
          node.operatorToken.kind === ts.SyntaxKind.PlusToken &&
          ts.isStringLiteralLike(node.left)
        ? node.left.text
        : '';
    if (SQL_START.test(start)) lines.push(source.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

const lockfileWithoutAddresses: TidyRule = {
  name: 'the lockfile records no download addresses',
  find: (files) =>
    files
      .filter(({ path }) => basename(path) === 'package-lock.json')
      .filter(({ text }) => /"resolved": "https?:/.test(text))
      .map(({ path }) => ({ path, problem: 'run npm install with the .npmrc of this project' })),
};

const rulesAreCited: TidyRule = {
  name: 'every rule of SPEC.md is cited by a test, and only rules that exist are cited',
  find: (files) => {
    const spec = files.find(({ path }) => path === 'packages/engine/SPEC.md');
    if (spec === undefined) return [];
    const stated = new Set(
      [...spec.text.matchAll(/^[-*#\s]*\**([A-Z]\d+)\b/gm)].map((match) => match[1] ?? ''),
    );
    const tests = files.filter(({ path }) => isTest(path) && path.startsWith('packages/') && isCode(path));
    const cited = new Map(
      tests.flatMap(({ path, text }) => citedRules(text).map((rule) => [rule, path] as const)),
    );
    return [
      ...[...stated]
        .filter((rule) => !cited.has(rule))
        .map((rule) => ({ path: spec.path, problem: `no test's name cites ${rule}` })),
      ...[...cited]
        .filter(([rule]) => !stated.has(rule))
        .map(([rule, path]) => ({ path, problem: `cites ${rule}, which SPEC.md does not state` })),
    ];
  },
};

function citedRules(text: string): string[] {
  const names = [
    ...text.matchAll(
      /\b(?:it|test|describe)(?:\.each\([\s\S]*?\)|\.for\([\s\S]*?\))?\(\s*(['"`])([\s\S]*?)\1/g,
    ),
  ];
  return names.flatMap((match) =>
    [...(match[2] ?? '').matchAll(/\b([A-Z]\d+)\b/g)].map((rule) => rule[1] ?? ''),
  );
}

const settingsAreDocumented: TidyRule = {
  name: 'docs and config.ts know the same environment variables',
  find: (files) => {
    const config = files.find(({ path }) => path === 'packages/cli/src/settings/config.ts');
    if (config === undefined) return [];
    const namesIn = (text: string): Set<string> =>
      new Set(text.match(/\b(MILLRACE_[A-Z0-9_]+|DATABASE_URL)\b/g));
    const known = namesIn(config.text);
    const docs = files.filter(({ path }) => path.endsWith('.md'));
    const documented = new Set(docs.flatMap(({ text }) => [...namesIn(text)]));
    return [
      ...docs.flatMap(({ path, text }) =>
        [...namesIn(text)]
          .filter((name) => !known.has(name))
          .map((name) => ({ path, problem: `config.ts reads no ${name}` })),
      ),
      ...[...known]
        .filter((name) => !documented.has(name))
        .map((name) => ({ path: config.path, problem: `no page of the docs explains ${name}` })),
    ];
  },
};

const scriptsExist: TidyRule = {
  name: 'docs name npm scripts that exist',
  find: (files) => {
    const manifest = files.find(({ path }) => path === 'package.json');
    if (manifest === undefined) return [];
    const { scripts } = JSON.parse(manifest.text) as { scripts: Record<string, string> };
    return files
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\bnpm (?:run ([a-z][a-z:-]*)|(start|test)\b)/g)]
          .map((match) => match[1] ?? match[2] ?? '')
          .filter((script) => !(script in scripts))
          .map((script) => ({ path, problem: `package.json has no script ${script}` })),
      );
  },
};

/** Decision records and the changelog name what was there at the time. */
const isCurrentDoc = (path: string): boolean =>
  path.endsWith('.md') && !path.startsWith('docs/adr/') && path !== 'CHANGELOG.md';

const FOLDERS_OF_PROJECT = 'packages|tools|docs|bench|examples|deploy|\\.ci';
const PATH_IN_CODE = new RegExp(`(?:^|\\s)((?:${FOLDERS_OF_PROJECT})/[\\w.\\-/{},*]+)(?=$|[\\s:;])`, 'g');

/** Other files, such as images, aren't among those that rules see. */
const FOLDER_OR_TEXT = /^[a-z0-9-]+$|\.(ts|tsx|mjs|cjs|js|json|sql|md|css|html|sh|yml|yaml)$/;

/** `a/{b,c}.ts` is two patterns, in which `*` stands for any part of a name. */
function patternsOf(written: string): RegExp[] {
  const [, before = '', choices, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(written) ?? [];
  if (choices !== undefined) {
    return choices.split(',').flatMap((choice) => patternsOf(`${before}${choice}${after}`));
  }
  const plain = written
    .replace(/[./]+$/, '')
    .replaceAll('.', '\\.')
    .replaceAll('*', '[^/]*');
  return [new RegExp(`^${plain}(/|$)`)];
}

const docsNameFiles: TidyRule = {
  name: 'docs name files that exist',
  find: (files) =>
    files
      .filter(({ path }) => isCurrentDoc(path))
      .flatMap(({ path, text }) => {
        const inCode = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) =>
          [...code.matchAll(PATH_IN_CODE)].map(([, name = '']) => name),
        );
        const linked = [...text.matchAll(/\]\((?!\w+:|#)([^)\s#]+)/g)].map(([, name = '']) =>
          join(path, '..', name),
        );
        return [...inCode, ...linked]
          .filter((name) => FOLDER_OR_TEXT.test(basename(name)))
          .filter((name) => !patternsOf(name).every((each) => files.some((file) => each.test(file.path))))
          .map((name) => ({ path, problem: `${name} doesn't exist` }));
      }),
};

const tablesListFiles: TidyRule = {
  name: 'a table of the files in a folder lists all of them, and no others',
  find: (files) =>
    files
      .filter(({ path }) => isCurrentDoc(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^\| Files in `([^`]+)` \|.*\n((?:\|.*\n?)+)/gm)].flatMap(
          ([, folder = '', rows = '']) => {
            const names = [...rows.matchAll(/^\|([^|]*)/gm)].flatMap(([, cell = '']) =>
              [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
            );
            const there = files
              .filter((file) => file.path.startsWith(`${folder}/`) && isCode(file.path) && !isTest(file.path))
              .map((file) => file.path.slice(folder.length + 1));
            const listed = names.flatMap(patternsOf);
            return [
              ...names
                .filter((name) => !patternsOf(name).every((each) => there.some((file) => each.test(file))))
                .map((name) => ({ path, problem: `${folder} has no ${name}` })),
              ...there
                .filter((file) => !listed.some((each) => each.test(file)))
                .map((file) => ({ path, problem: `${folder}/${file} is in no row` })),
            ];
          },
        ),
      ),
};

/** A rule for the commands shown in the docs; `commands` are full names, `keys create`. */
export function commandsExist(commands: readonly string[]): TidyRule {
  const known = new Set(commands);
  const groups = new Set(commands.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]));
  return {
    name: 'docs show commands that exist',
    find: (files) =>
      files
        .filter(({ path }) => path.endsWith('.md'))
        .flatMap(({ path, text }) =>
          [...text.matchAll(/(?:^|[`$]|npx) ?millrace ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/gm)]
            .map(([, first = '', second = '']) =>
              groups.has(first) && second !== '' ? `${first} ${second}` : first,
            )
            .filter((name) => !known.has(name) && !groups.has(name))
            .map((name) => ({ path, problem: `there is no command millrace ${name}` })),
        ),
  };
}

/** Product texts and docs pages, except decision records, which aren't edited afterwards. */
const isProse = (path: string): boolean =>
  /^packages\/(ui\/src\/i18n\/(en|service)|messages\/src\/en)\/.*\.json$|^packages\/api\/openapi\.json$/.test(
    path,
  ) ||
  /^docs\/[^/]+\.md$|^packages\/engine\/SPEC\.md$|^(README|ARCHITECTURE|CONTRIBUTING|SECURITY)\.md$/.test(
    path,
  );
/** Phrases nobody would say, with what to write instead. */
const ODD_PHRASES = new RegExp(
  [
    // "isn't", "no longer", "again", "fix", "output".
    /(?<!\b[Tt]here )\bis no (?!longer\b|more\b|different\b)/,
    /\bnot\b[^.;:,"]{1,40}\bany more\b/,
    /\banew\b/,
    /\b[Mm]end(ed|s)?\b/,
    /\bputs? out\b/,
    // "Needs attention", "timeline", "takes the branch", "the operator".
    /\bLook at it\b/,
    /\b[Tt]ime line\b/,
    /\b[Gg]o(es)? on by\b/,
    /\b[Ww]ho(ever)? (administers|runs) (this|the)\b/,
    // "Reconnect", "You can't", "a similar".
    /\b[Ll]ead elsewhere\b/,
    /\bNobody (gives|takes)\b/,
    /\bdoes the like\b/,
    // "finds", "starts", "someone", "reports".
    /\bwas begun\b/,
    /\b[Ss]omebody\b/,
    /\b[Ii]s told as\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** The rules that need only the files. */
export const TIDY_RULES: readonly TidyRule[] = [
  fileSizes,
  kebabCaseNames,
  migrationNumbers,
  nodesHaveTests,
  plainSql,
  lockfileWithoutAddresses,
  rulesAreCited,
  settingsAreDocumented,
  scriptsExist,
  docsNameFiles,
  tablesListFiles,
  lineRule(
    'the environment is read in config.ts only',
    (path) => isProduct(path) && path !== 'packages/cli/src/settings/config.ts',
    /\bprocess\.env\b/,
    'take it from Config',
  ),
  lineRule(
    'nothing is left open',
    (path) => !/(^|\/)package-lock\.json$/.test(path),
    /\b(TODO|FIXME|HACK)\b|[/*#] *XXX\b|\b[Nn]ot (yet )?implemented\b/,
    'finish it or take it out',
  ),
  lineRule(
    'no test is switched off or alone',
    isTest,
    /\b(it|test|describe|suite)\.(only|skip|todo|fails)\b/,
    'every test runs, every time',
  ),
  lineRule(
    'a test takes its chance from the seed of the run',
    (path) => isTest(path) && path !== 'packages/testing/src/property-setup.ts',
    /\bMath\.random\b|^(?!.*\bfc\.sample\b).*\bnumRuns: (?!runs\()|\{ seed: [\d_]+/,
    'give numRuns as runs(...) of packages/testing/src/property-runs.ts, and neither a seed nor Math.random',
  ),
  lineRule(
    'no path of one machine',
    () => true,
    /(^|[\s"'`(=:])\/(work|root|home\/[a-z]+|Users)\//,
    'this path exists on one machine only',
  ),
  lineRule(
    'no registry address',
    (path) => !path.endsWith('.md'),
    /registry\.npmjs|npm\.pkg\.|^\s*registry\s*=/,
    'each user has a registry of their own',
  ),
  lineRule('texts and docs are plain English', isProse, ODD_PHRASES, 'say it as people would'),
  lineRule(
    'README counts no tests',
    (path) => path === 'README.md',
    /\b\d[\d,]* (tests|checks|passed)\b/i,
    'the number is out of date tomorrow',
  ),
];
