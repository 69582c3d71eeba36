import '../i18n/parts/versions.ts';
import '../i18n/parts/editor.ts';
import { json } from '@codemirror/lang-json';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { codeTheme } from './code-theme.ts';

/** Two JSON documents side by side, with unchanged parts folded. */
export default function TextDiff({
  before,
  after,
  labels: [beforeLabel, afterLabel],
  maxHeight,
}: {
  before: string;
  after: string;
  labels: readonly [before: string, after: string];
  maxHeight?: number;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const { t } = useTranslation();
  // CodeMirror substitutes the number itself.
  const unchanged = t('versions.unchanged', { lines: '$' });
  useEffect(() => {
    if (frame.current === null) return;
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        codeTheme(),
        lineNumbers(),
        json(),
        EditorState.readOnly.of(true),
        EditorView.lineWrapping,
        EditorState.phrases.of({ '$ unchanged lines': unchanged }),
        EditorView.theme({ '.cm-collapsedLines': { '&:before, &:after': { content: '"…"' } } }),
        EditorView.contentAttributes.of({ 'aria-label': label }),
      ],
    });
    const view = new MergeView({
      parent: frame.current,
      a: side(before, beforeLabel),
      b: side(after, afterLabel),
      collapseUnchanged: { margin: 3, minSize: 6 },
      diffConfig: { scanLimit: 2_000 },
    });
    return () => view.destroy();
  }, [before, after, beforeLabel, afterLabel, unchanged]);
  return <div ref={frame} className="code-frame" style={{ maxHeight, overflow: 'auto' }} />;
}
