import { history, undo } from '@codemirror/commands';
import { EditorState, type Transaction, type TransactionSpec } from '@codemirror/state';
import { expect, test } from 'vitest';
import { oneLine } from './one-line.ts';

function change(doc: string, spec: TransactionSpec): Transaction {
  return EditorState.create({ doc, extensions: [oneLine(), history()] }).update(spec);
}

test('inserted text becomes one line, with the cursor after it', () => {
  const { newDoc, newSelection } = change('plain', { changes: { from: 1, to: 3, insert: 'one\n  two' } });
  expect([newDoc.toString(), newSelection.main.head]).toEqual(['pone twoin', 'pone two'.length]);
});

test('Enter does nothing', () => {
  expect(change('plain', { changes: { from: 5, insert: '\n' } }).docChanged).toBe(false);
  expect(change('plain', { changes: { from: 0, to: 5, insert: '\n' } }).docChanged).toBe(false);
});

test('text that already has several lines keeps them', () => {
  expect(change('one\ntwo', { changes: { from: 7, insert: '!' } }).newDoc.toString()).toBe('one\ntwo!');
  const joined = change('one\ntwo', { changes: { from: 3, to: 4 } });
  let restored = joined.state;
  undo({ state: joined.state, dispatch: (transaction) => (restored = transaction.state) });
  expect(restored.doc.toString()).toBe('one\ntwo');
});
