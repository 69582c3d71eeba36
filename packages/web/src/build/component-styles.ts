import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/** What comes before every component: variables, what browsers do differently. */
const BASE = ['baseline', 'default-css-variables', 'global'] as const;

/**
 * Components of nearly every first view, in the order of the library's own sheet: what is made of another comes after it. The styles of all the
 * others come with their code.
 */
const FIRST = [
  ['ScrollArea', 'UnstyledButton', 'VisuallyHidden', 'Paper', 'Overlay', 'Popover', 'Loader', 'ActionIcon'],
  ['CloseButton', 'Group', 'Input', 'Flex', 'Alert', 'Text', 'Anchor', 'AppShell', 'InlineInput', 'Badge'],
  ['Burger', 'Button', 'Center', 'Code', 'Divider', 'Kbd', 'Menu', 'NavLink', 'Tooltip', 'SimpleGrid'],
  ['FloatingIndicator', 'SegmentedControl', 'Skeleton', 'Stack', 'Switch', 'ThemeIcon', 'Title'],
].flat();

/** Palettes that nothing is drawn in. */
const UNUSED_COLOURS = ['pink', 'indigo', 'cyan', 'lime'];
const OF_UNUSED = new RegExp(`^\\s*--mantine-color-(?:${UNUSED_COLOURS.join('|')})-[\\w-]+:[^;]*;`, 'gm');
const NAMES_UNUSED = new RegExp(
  `["'-](?:${UNUSED_COLOURS.join('|')})(?:["']|[.-]\\d|-(?:light|filled|outline|text))`,
);

const ALL_STYLES = /@mantine\/core\/styles\.css$/;
/** The names of a component's classes: whatever uses one imports them. */
const CLASSES = /@mantine\/core\/esm\/components\/.*\.module\.mjs$/;

/**
 * The styles of components come with their code: what most first views show in the sheet of the page, the others in those of parts, unused ones not at
 * all. While developing, all of them come at once.
 */
export function componentStyles(): Plugin {
  return {
    name: 'component-styles',
    apply: 'build',
    enforce: 'pre',
    load(id) {
      if (ALL_STYLES.test(id)) {
        const styles = [...BASE, ...FIRST].map((name) =>
          readFileSync(join(dirname(id), 'styles', `${name}.css`), 'utf8'),
        );
        return styles.join('\n').replaceAll(OF_UNUSED, '');
      }
      if (!CLASSES.test(id)) return null;
      const name = basename(id, '.module.mjs');
      const code = readFileSync(id, 'utf8');
      return FIRST.includes(name) ? code : `import '@mantine/core/styles/${name}.css';\n${code}`;
    },
    transform(code, id) {
      if (id.includes('/node_modules/') || !/\.(?:tsx?|css)$/.test(id)) return null;
      const used = NAMES_UNUSED.exec(code);
      if (used !== null) this.error(`${id} uses the colour ${used[0]}: take it out of UNUSED_COLOURS`);
      return null;
    },
  };
}
