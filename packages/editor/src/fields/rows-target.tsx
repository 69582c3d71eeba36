import { isTable } from '@millrace/editor-model/pasted-text.ts';
import { isJsonArray, type JsonValue, tryParseJson } from '@millrace/engine';
import type { ClipboardEvent, ReactNode } from 'react';
import { useForm } from '../form/form-context.tsx';

/** A fixed list, or a field that may become one: rows that are pasted, from a spreadsheet or as JSON, become its items. */
export function RowsTarget({
  isReady = true,
  onRows,
  children,
}: {
  /** Whether what is there may be replaced or added to. */
  isReady?: boolean;
  onRows: (rows: readonly JsonValue[]) => void;
  children: ReactNode;
}) {
  const { isReadOnly } = useForm();
  const onPaste = (event: ClipboardEvent) => {
    if (!isReady || isReadOnly) return;
    const text = textOf(event);
    const list = readList(text);
    if (list === null && !isTable(text)) return;
    event.preventDefault();
    event.stopPropagation();
    if (list !== null) onRows(list);
    else void loadReader().then((readTable) => onRows(readTable(text)));
  };
  return <div onPasteCapture={onPaste}>{children}</div>;
}

/** A field with JSON: cells that are pasted from a spreadsheet become a JSON list. */
export function TableAsJson({ children }: { children: ReactNode }) {
  const onPaste = (event: ClipboardEvent) => {
    const text = textOf(event);
    if (!isTable(text)) return;
    event.preventDefault();
    event.stopPropagation();
    void loadReader().then((readTable) => insertText(JSON.stringify(readTable(text), null, 2)));
  };
  return <div onPasteCapture={onPaste}>{children}</div>;
}

const loadReader = async () => (await import('@millrace/editor-model/rows.ts')).readTable;

function textOf(event: ClipboardEvent): string {
  return event.clipboardData.getData('text/plain');
}

/** A JSON list with something in it; text may be long, so look at its ends first. */
function readList(text: string): readonly JsonValue[] | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[') || !trimmed.endsWith(']')) return null;
  const value = tryParseJson(trimmed);
  return value !== undefined && isJsonArray(value) && value.length > 0 ? value : null;
}

/** Pastes text into the focused code editor, as one step for its undo. */
function insertText(text: string): void {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const event = new window.ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
  document.activeElement?.dispatchEvent(event);
}
