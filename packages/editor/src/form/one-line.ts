import { EditorState, type Extension, type TransactionSpec } from '@codemirror/state';

/** Limits input to one line: line breaks become spaces, and Enter does nothing. An existing multi-line value keeps its lines. */
export function oneLine(): Extension {
  return EditorState.transactionFilter.of((transaction) => {
    const { startState, newDoc, changes } = transaction;
    const isOther = startState.doc.lines > 1 || newDoc.lines === 1;
    if (isOther || transaction.isUserEvent('undo') || transaction.isUserEvent('redo')) return transaction;
    const flat: { readonly from: number; readonly to: number; readonly insert: string }[] = [];
    changes.iterChanges((from, to, _newFrom, _newTo, inserted) => {
      flat.push({ from, to, insert: flattened(inserted.toString()) });
    });
    if (flat.every(({ insert }) => insert === '')) return [];
    const spec: TransactionSpec = { changes: flat };
    const end = flat.at(-1)?.to ?? 0;
    return {
      ...spec,
      selection: { anchor: startState.changes(flat).mapPos(end, 1) },
      scrollIntoView: true,
    };
  });
}

function flattened(text: string): string {
  return text.trim() === '' ? '' : text.replace(/\s*\n\s*/g, ' ');
}
