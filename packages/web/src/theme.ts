import {
  ActionIcon,
  type BadgeProps,
  Button,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MenuProps,
  type ModalProps,
  Tooltip,
} from '@mantine/core';
import i18next from 'i18next';

const teal: MantineColorsTuple = [
  '#eef8fa',
  '#dff1f4',
  '#cbe7ec',
  '#9fd0da',
  '#6fb7c6',
  '#459fb2',
  '#2a8ea3',
  '#0f8599',
  '#0b7285',
  '#095c6b',
];

/** Calm and dense: small controls, small corners, one accent. */
export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: 8,
  colors: { teal },
  autoContrast: true,
  luminanceThreshold: 0.35,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  // Otherwise what opens and closes waits for transitions that nobody sees.
  respectReducedMotion: true,
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Hiragino Sans", "Noto Sans JP", "Noto Sans CJK JP", "Yu Gothic UI", Meiryo, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", monospace',
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1.05rem' } } },
  components: {
    Button: Button.extend({ defaultProps: { size: 'xs' } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    // By name only: importing those components here would load them with every page.
    Badge: {
      defaultProps: { variant: 'light', size: 'sm' } satisfies BadgeProps,
      styles: { label: { textTransform: 'none' } },
    },
    // Close buttons have an accessible name by default; clear buttons are named where they are used.
    CloseButton: { defaultProps: () => ({ 'aria-label': i18next.t('common.close') }) },
    // The first item takes the focus, so the menu needs no placeholder for it.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } satisfies MenuProps },
    // Hints come with the keyboard's focus, too: an icon alone says little.
    Tooltip: Tooltip.extend({
      defaultProps: { openDelay: 300, withArrow: true, events: { hover: true, focus: true, touch: false } },
    }),
    // Keyboard users need the visibility toggle too.
    PasswordInput: {
      defaultProps: () => ({
        size: 'xs',
        visibilityToggleFocusable: true,
        visibilityToggleButtonProps: { 'aria-label': i18next.t('common.showSecret') },
      }),
    },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.4 },
      } satisfies Partial<ModalProps>,
    },
    ...Object.fromEntries(
      ['TextInput', 'Select', 'NumberInput', 'Textarea', 'TagsInput', 'MultiSelect', 'JsonInput'].map(
        (name) => [name, { defaultProps: { size: 'xs' } }],
      ),
    ),
  },
});

/** Secondary text has the contrast that WCAG 2.2 AA requires (4.5:1), which Mantine's own grey misses on white. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a636b',
    '--mantine-color-placeholder': '#6c757d',
    '--mantine-color-error': '#c92a2a',
    // For badges, for the same reason.
    '--mantine-color-green-light-color': '#1f6b2f',
    '--mantine-color-yellow-light-color': '#7d4800',
    '--mantine-color-orange-light-color': '#8a3a00',
    '--mantine-color-red-light-color': '#a51d1d',
    // For destructive menu items.
    '--mantine-color-red-6': '#c92a2a',
    '--mantine-color-blue-light-color': '#1557a0',
    '--mantine-color-grape-light-color': '#7b2791',
    '--mantine-color-gray-light-color': '#495057',
  },
  dark: {
    '--mantine-color-red-6': '#ff8787',
    '--mantine-color-dimmed': '#abb1b8',
    '--mantine-color-placeholder': '#9aa0a6',
    '--mantine-color-error': '#ff8787',
  },
});
