import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { styleNonce } from './nonce.ts';

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.propertyName], color: 'var(--code-property)' },
  { tag: [tags.comment], color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
]);

/** The editor theme: the page's colours, in both schemes. */
export function codeTheme(): Extension {
  return [
    EditorView.cspNonce.of(styleNonce()),
    EditorView.theme({
      '&': {
        fontSize: '12px',
        color: 'var(--mantine-color-text)',
        backgroundColor: 'var(--mantine-color-default)',
      },
      '&.cm-focused': { outline: 'none' },
      '.cm-content': {
        fontFamily: 'var(--mantine-font-family-monospace)',
        caretColor: 'var(--mantine-color-text)',
      },
      '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
      '.cm-gutters': {
        backgroundColor: 'var(--mantine-color-default)',
        color: 'var(--mantine-color-dimmed)',
        border: 'none',
      },
      '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--code-active-line)' },
      '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
        backgroundColor: 'var(--code-selection)',
      },
      '.cm-tooltip': {
        backgroundColor: 'var(--mantine-color-body)',
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-sm)',
      },
      '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
      '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
        backgroundColor: 'var(--mantine-primary-color-light)',
        color: 'var(--mantine-color-text)',
      },
      '.cm-placeholder': { color: 'var(--mantine-color-dimmed)' },
      '.cm-completionDetail': { color: 'var(--mantine-color-dimmed)', fontStyle: 'normal' },
      '.cm-template-mistake': {
        textDecoration: 'underline wavy var(--mantine-color-error)',
        textUnderlineOffset: '3px',
      },
      '.cm-template': {
        backgroundColor: 'var(--mantine-primary-color-light)',
        borderRadius: '3px',
        color: 'var(--mantine-primary-color-light-color)',
      },
    }),
    syntaxHighlighting(COLOURS),
  ];
}
