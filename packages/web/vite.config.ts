import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { componentStyles } from './src/build/component-styles.ts';
import { packFiles } from './src/build/pack-files.ts';
import { listRouteFiles, listRoutes, listTabs } from './src/build/route-files.ts';

/** Compresses the built files in advance, so that the service doesn't compress them for each browser. */
function packAssets(): Plugin {
  let folder = '';
  return {
    name: 'pack-assets',
    apply: 'build',
    configResolved: (config) => {
      folder = resolve(config.root, config.build.outDir, config.build.assetsDir);
    },
    // Not in closeBundle, which also runs after a failed build and would hide its error.
    writeBundle: async () => {
      const names = readdirSync(folder).filter((each) => /\.(js|css|svg)$/.test(each));
      await packFiles(names.map((name) => join(folder, name)));
    },
  };
}

const ROUTER = 'src/router.tsx';
const TABS = '../workflow-pages/src/editor/tab-content.tsx';
const readSource = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');

/** Writes which files the first view of each page needs; the service names them in the page's head. */
function listFirstFiles(): Plugin {
  return {
    name: 'list-first-files',
    apply: 'build',
    generateBundle: {
      // Files of styles only are removed before.
      order: 'post',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? [file] : []));
        const entry = chunks.find(({ isEntry }) => isEntry)?.fileName ?? '';
        const described = chunks.map(
          ({ fileName, facadeModuleId, imports, dynamicImports, viteMetadata }) => ({
            ...{ fileName, facadeModuleId, imports, dynamicImports },
            css: [...(viteMetadata?.importedCss ?? [])],
          }),
        );
        const routes = [...listRoutes(readSource(ROUTER)), ...listTabs(readSource(TABS))];
        const pages = listRouteFiles(routes, described, entry);
        const gone = Object.values(pages)
          .flatMap(({ later, ...first }) => [first, later])
          .flatMap(({ files, japanese }) => [...files, ...japanese])
          .find((file) => bundle[file] === undefined);
        if (gone !== undefined) this.error(`${gone} would be fetched first, but isn't there`);
        this.emitFile({ type: 'asset', fileName: 'first-files.json', source: JSON.stringify(pages) });
      },
    },
  };
}

const NO_COLOURS = '\0no-colours';

/** What React Flow animates is numbers. d3 could blend colours, too, and would bring every way to read and write them. */
function leaveOutColours(): Plugin {
  return {
    name: 'leave-out-colours',
    apply: 'build',
    enforce: 'pre',
    resolveId: (id) => (id === 'd3-color' ? NO_COLOURS : null),
    load: (id) =>
      id === NO_COLOURS
        ? 'export const color = () => null;\nexport { color as rgb, color as hsl, color as lab, color as hcl, color as cubehelix };\n'
        : null,
  };
}

/** Modules that are loaded when they are first needed: those that stand in for them say so (`values/src/not-loaded.ts`). */
const LATER = ['/values/src/pattern-engine.ts', '/templates/src/template-filters.ts'];

function loadWhenNeeded(): Plugin {
  return {
    name: 'load-when-needed',
    apply: 'build',
    enforce: 'pre',
    async resolveId(id, importer) {
      if (!/(pattern-engine|template-filters)(\.ts)?$/.test(id)) return null;
      const found = await this.resolve(id, importer, { skipSelf: true });
      const isLater = found !== null && LATER.some((path) => found.id.endsWith(path));
      const standIn = found?.id.replace(/\.ts$/, '-page.ts');
      return isLater && importer !== standIn ? { id: standIn ?? '' } : found;
    },
  };
}

const TEXTS = join(import.meta.dirname, '../ui/src/i18n/page');
const TEXT_MODULES: { readonly [name: string]: string } = {
  i18next: join(TEXTS, 'i18next.ts'),
  'react-i18next': join(TEXTS, 'react-i18next.tsx'),
};

/** What the page uses of i18next is a small part of it. */
function leaveOutTextLibrary(): Plugin {
  return {
    name: 'leave-out-text-library',
    apply: 'build',
    enforce: 'pre',
    resolveId: (id) => TEXT_MODULES[id] ?? null,
  };
}

const VIEW_TRANSITION = join(import.meta.dirname, '../editor/src/canvas/transition-page.ts');

/** Of animations, React Flow needs that of its view. */
function leaveOutTransitions(): Plugin {
  return {
    name: 'leave-out-transitions',
    apply: 'build',
    enforce: 'pre',
    resolveId: (id) => (id === 'd3-transition' ? VIEW_TRANSITION : null),
  };
}

const POSITIONING = join(import.meta.dirname, '../ui/src/components/positioning');
const NO_LOCK = '\0no-scroll-lock';
const PLACEABLE = '\0use-popover:';

/** Components that need more of what positions than its stand-in has. */
const POSITIONED = /\b(?:HoverCard|Cascader|Tour|Tooltip\.Group)\b/;

/** What positions menus, lists of choices and tooltips is loaded when one is opened, or in reserve. */
function positionLater(): Plugin {
  return {
    name: 'position-later',
    apply: 'build',
    enforce: 'pre',
    async resolveId(id, importer = '') {
      if (id === '@floating-ui/react') return join(POSITIONING, 'floating-page.ts');
      if (id === './use-tooltip.mjs') return join(POSITIONING, 'tooltip-page.ts');
      // The header names a class of what locks scrolling, which comes with dialogs.
      if (id === 'react-remove-scroll' && importer.endsWith('/AppShellHeader.mjs')) return NO_LOCK;
      if (id !== './use-popover.mjs' || !importer.endsWith('/Popover.mjs')) return null;
      const found = await this.resolve(id, importer, { skipSelf: true });
      return found === null ? null : `${PLACEABLE}${found.id}`;
    },
    load(id) {
      if (id === NO_LOCK)
        return "export const RemoveScroll = { classNames: { zeroRight: 'right-scroll-bar-position' } };\n";
      if (!id.startsWith(PLACEABLE)) return null;
      return `
        import { usePopover as usePopoverAtOnce } from ${JSON.stringify(id.slice(PLACEABLE.length))};
        import { useIsPlaceable } from ${JSON.stringify(join(POSITIONING, 'positioning.ts'))};
        export function usePopover(options) {
          const popover = usePopoverAtOnce(options);
          return { ...popover, opened: useIsPlaceable(popover.opened) };
        }`;
    },
    transform(code, id) {
      const used = id.includes('/node_modules/') || id.includes('\0') ? null : POSITIONED.exec(code);
      if (used !== null)
        this.error(`${id} uses ${used[0]}: see positionLater in packages/web/vite.config.ts`);
      return null;
    },
  };
}

const NO_ENGLISH = '\0no-english';

/** The English of an error is for the service's log: all messages of the service would come with the first error. The page shows its explanation. */
function leaveOutLogTexts(): Plugin {
  return {
    name: 'leave-out-log-texts',
    apply: 'build',
    enforce: 'pre',
    resolveId: (id, importer) =>
      id === './english.ts' && importer?.endsWith('/messages/src/explained-error.ts') ? NO_ENGLISH : null,
    load: (id) =>
      id === NO_ENGLISH
        ? "export const inEnglish = (said) => (typeof said === 'string' ? said : said.key);\n"
        : null,
  };
}

/** Members of components that no page uses. They come with the component (`Menu.Search`). */
const UNUSED_MEMBERS: { readonly [component: string]: string } = {
  AppShell: 'Aside|Footer|ResizeHandle',
  Menu: 'Sub|Search|CheckboxItem|CheckboxGroup|RadioItem|RadioGroup|ContextMenu',
  Popover: 'ContextMenu',
  Tooltip: 'Floating',
};
const UNUSED_OF = Object.entries(UNUSED_MEMBERS);

/** Their modules, and what only they need. */
const UNUSED = new RegExp(
  [
    ...UNUSED_OF.map(([of, members]) => `${of}/${of}(?:${members})`),
    'AppShell/AppShellMediaStyles/assign-(?:aside|footer)-variables',
  ]
    .map((folder) => `@mantine/core/esm/components/${folder}/[\\w-]+\\.mjs$`)
    .join('|'),
);

/** Their names in the code of pages. */
const UNUSED_MEMBER = new RegExp(UNUSED_OF.map(([of, members]) => `\\b${of}\\.(?:${members})\\b`).join('|'));

/** What may import them: the component whose members they are, each other, and the list of everything. */
const MAY_IMPORT_UNUSED = new RegExp(
  `@mantine/core/esm/(?:index\\.mjs$|components/(?:${Object.keys(UNUSED_MEMBERS).join('|')})/)`,
);

/** The build fails if something does use them. */
function leaveOutUnused(): Plugin {
  return {
    name: 'leave-out-unused',
    apply: 'build',
    enforce: 'pre',
    async resolveId(id, importer) {
      if (importer === undefined || MAY_IMPORT_UNUSED.test(importer)) return null;
      const found = id.startsWith('.') ? await this.resolve(id, importer, { skipSelf: true }) : null;
      if (found !== null && UNUSED.test(found.id))
        this.error(`${importer} uses ${id}: take it out of UNUSED_MEMBERS`);
      return null;
    },
    transform(code, id) {
      const used = id.includes('/node_modules/') ? null : UNUSED_MEMBER.exec(code);
      if (used !== null) this.error(`${id} uses ${used[0]}: take it out of UNUSED_MEMBERS`);
      return null;
    },
    load(id) {
      if (!UNUSED.test(id)) return null;
      // Named as their file is, or in camel case.
      const name = basename(id, '.mjs').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      // Used even where there is nothing to do: panels of a fixed size, no panel on the right or below.
      if (/^(?:AppShellResizeHandle$|assign)/.test(name)) return `export const ${name} = () => null;\n`;
      const error = `${name} is left out of the build: see UNUSED_MEMBERS in packages/web/vite.config.ts`;
      return `export const ${name} = () => { throw new Error(${JSON.stringify(error)}); };\n`;
    },
  };
}

/** Used by most pages, but by none when it is first shown: texts, dialogs and the fields of forms. */
const LOADED_LATER = new RegExp(
  [
    'messages/src/en',
    'ui/src/i18n/(en|ja|parts)/',
    'ui/src/components/form-dialog',
    'editor/src/(form|fields|templates)/',
    'editor-model/src/(problem-text|field-shape|flow-scope|known-values|section-summary|template-scope)',
    '@mantine/core/esm/components/(Modal|ModalBase|Drawer|Combobox|Select|NativeSelect|Table|Textarea|Code)/',
    '@mantine/notifications/esm/(Notification|get-)|@mantine/hooks/esm/use-drag|react-transition-group',
    '@mantine/core/styles/',
    'react-remove-scroll|react-style-singleton|use-sidecar|use-callback-ref|tslib',
    '@floating-ui/(dom|core|utils)',
    '@mantine/core/esm/components/(Notification|InputsGroup|FocusTrap|PillsInput|Accordion|SegmentedControl|FloatingIndicator|ScrollArea)/',
  ].join('|'),
);

/** The frame around every page, and small modules that would otherwise be a file each. */
const FRAME = new RegExp(
  [
    'web/src/shell/(?!no-organisation|help-items|guides|commands/(command-palette|use-commands))',
    'ui/src/(api|commands)/',
    'ui/src/i18n/(parts/(add-texts|workflow)\\.ts|en/workflow\\.json)',
    'ui/src/components/(nonce|icon-badge|status-styles|confirm-later|use-in-sight|when-in-sight|with-code|code\\.tsx)',
    'workflow-pages/src/workflows/(status-badge|workflow-changes)',
    'values/src/not-loaded',
    '(?<!json)[-/]search\\.ts$',
    'search-params',
    'editor/src/canvas/(flow-view|node-icon)',
    '@mantine/(hooks/esm/(?!use-drag)|core/esm/core/)',
    '@mantine/core/esm/components/(AppShell|NavLink|Burger|Menu|Switch|Collapse|Divider)/',
    '@mantine/core/esm/components/(Radio/RadioIcon|Accordion/AccordionChevron|ScrollArea/utils/to-int)',
  ].join('|'),
);

/** Small parts of the pages with lists. */
const LISTS = new RegExp(
  [
    'ui/src/components/(data-table|row-link|filter-input|selection-bar)',
    '@mantine/core/esm/components/(Checkbox/(?!CheckIcon)|NativeSelect/|Progress/)',
    'workflow-pages/src/workflows/(row-menu|name-field|create-workflow|trigger-name|search-field)',
  ].join('|'),
);

/** What dialogs are made of. */
const DIALOGS =
  /@mantine\/core\/esm\/components\/(?:Modal|ModalBase|FocusTrap|Overlay|ScrollArea)\/|ui\/src\/components\/(?:form-dialog|use-is-on-top)/;

/** What forms are made of. */
const CONTROLS = /@mantine\/core\/esm\/components\/(?!SegmentedControl|FloatingIndicator)/;

/** What the first view of the editor shares with parts loaded later: a file each would be a request each. */
const EDITOR_PARTS = new RegExp(
  [
    'workflow-pages/src/editor/(activation-switch|use-activation|editor-context|to-list|side-head|side-frame|splitter|trying/(run-choice|use-trial))',
    'editor/src/(canvas/run-lines|pins/pin-sync|form/(save-flow|new-credential))',
    'workflow-pages/src/workflows/(export-item|new-credential-dialog)',
    'workflow-pages/src/editor/editor\\.css',
    'ui/src/i18n/(en|parts)/workplace\\.',
    '@mantine/core/esm/components/Tabs/',
  ].join('|'),
);

/** What the canvas shares with lists of changes and with panels. */
const CANVAS_PARTS = new RegExp(
  [
    'editor/src/canvas/(clipboard|about-node-text|diff-sign|run-mark)\\.',
    'editor-model/src/(about-node|pasted-text)\\.',
    'icons/(keyboard|list-tree|maximize|network|save|square-dashed-mouse-pointer|sticky-note|zoom-in|zoom-out)\\.',
  ].join('|'),
);

/** What the page of an execution shares with lists of executions and approvals. */
const EXECUTION_PARTS = new RegExp(
  [
    'execution-pages/src/common/(status|under-way|to-executions|executions\\.module)',
    'execution-pages/src/detail/(config-of|execution-facts|node-names|use-execution)',
    'execution-pages/src/(approvals/choice-name|files/files|timeline/timeline\\.module|charts/run-charts\\.module)\\.',
    'ui/src/components/json-viewer\\.module',
    'templates/src/template-filters-page|editor-model/src/flow-scope',
    'ui/src/i18n/(en|parts)/executions\\.',
    'icons/chevron-left\\.',
  ].join('|'),
);

/** What forms share, wherever they are. */
const FORM_PARTS = new RegExp(
  [
    'editor/src/(fields/(?!rows-target|pasted-credential|format-amount)|schedule/)',
    'editor-model/src/(field-shape|section-summary|known-values|cron-pattern)',
    'editor/src/form/(field-props|move-item|form-context|insert-target)',
  ].join('|'),
);

/** One sheet instead of one for each file of code: pages with forms or lists need most of it. */
const CONTROL_STYLES =
  /@mantine\/core\/styles\/(?:Table|Checkbox|CheckboxCard|CheckboxIndicator|Combobox|Progress|Pill|PillsInput|Modal|ModalBase|NumberInput)\.css/;

/** What versions share with drafts that contradict each other. */
const VERSION_PARTS =
  /workflow-pages\/src\/editor\/versions\/(?:flow-diff|change-list|version-author)|editor\/src\/node-panel\/setting-names|ui\/src\/i18n\/(?:en|parts)\/(?:setting|versions)\./;

/** Fields for long texts and for several values. */
const PILLS =
  /ui\/src\/components\/workflow-select|workflow-pages\/src\/workflows\/(?:details-fields|name-field)|@mantine\/core\/esm\/components\/Textarea\/|@mantine\/core\/esm\/components\/(?:Pill|PillsInput|MultiSelect|TagsInput|Combobox\/use-pills-reorder)\//;

/** What the first view of the list of workflows shares with parts loaded later. */
const LIST_PARTS = new RegExp(
  [
    'workflow-pages/src/workflows/(folders|details-dialog|name-field|new-workflow-dialog|create-workflow)',
    'icons/(file-up|list|list-checks|octagon-alert|octagon-exclamation-point|sheet|star)\\.',
  ].join('|'),
);

/**
 * In development, Vite's inline scripts need the nonce, which the server puts in place of this in every response. Scripts of the build don't:
 * the policy allows files of the service, and with another nonce each time browsers would compile every function of a page again.
 */
function allowInlineScripts(): Plugin {
  return {
    name: 'allow-inline-scripts',
    apply: 'serve',
    config: () => ({ html: { cspNonce: '__CSP_NONCE__' } }),
  };
}

export default defineConfig({
  plugins: [
    react(),
    leaveOutColours(),
    leaveOutTransitions(),
    leaveOutTextLibrary(),
    leaveOutLogTexts(),
    positionLater(),
    leaveOutUnused(),
    componentStyles(),
    loadWhenNeeded(),
    listFirstFiles(),
    packAssets(),
    allowInlineScripts(),
  ],
  build: {
    manifest: true,
    // An inlined file would be a data: URL, which the policy allows only for images.
    assetsInlineLimit: 0,
    target: 'es2023',
    // Every browser of that age knows the links in the head of the page.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Code shared by most pages goes into a few files: by default the bundler would create 150 files for one page.
      output: {
        codeSplitting: {
          groups: [
            // A file for each would be larger altogether, and a request each. Those of a single part belong to it.
            { name: 'icons', priority: 8, minShareCount: 3, test: /lucide-react/ },
            { name: 'shared', priority: 7, minShareCount: 14, test: (id) => !LOADED_LATER.test(id) },
            { name: 'frame', priority: 6, test: FRAME },
            { name: 'control-styles', priority: 6, test: CONTROL_STYLES },
            { name: 'lists', priority: 3, minShareCount: 2, test: LISTS },
            { name: 'dialogs', priority: 4, minShareCount: 10, test: DIALOGS },
            { name: 'controls', priority: 3, minShareCount: 14, test: CONTROLS },
            // Before those with parts that need them, which would take them in.
            { name: 'workflow-texts', priority: 3, test: /ui\/src\/i18n\/(en|parts)\/workflows\./ },
            { name: 'canvas-texts', priority: 3, test: /ui\/src\/i18n\/(en|parts)\/(canvas|editor)\./ },
            {
              name: 'numbers',
              priority: 3,
              test: /@mantine\/core\/esm\/components\/NumberInput\/|react-number-format/,
            },
            { name: 'editor-parts', priority: 2, test: EDITOR_PARTS },
            { name: 'canvas-parts', priority: 2, test: CANVAS_PARTS },
            { name: 'execution-parts', priority: 2, test: EXECUTION_PARTS },
            {
              name: 'segments',
              priority: 3,
              test: /@mantine\/core\/esm\/components\/(?:SegmentedControl|FloatingIndicator)\//,
            },
            { name: 'pills', priority: 2, minShareCount: 2, test: PILLS },
            { name: 'list-parts', priority: 1, test: LIST_PARTS },
            { name: 'version-parts', priority: 1, minShareCount: 2, test: VERSION_PARTS },
            { name: 'form-parts', priority: 0, minShareCount: 2, test: FORM_PARTS },
          ],
        },
      },
    },
  },
});
