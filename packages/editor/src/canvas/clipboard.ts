import { notifyDone, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { TFunction } from 'i18next';
import { type Clipping, cutOut, readClip, writeClip } from '../model/clip.ts';
import type { EditorState, Point } from '../model/editor-state.ts';
import { takeApart } from '../model/flow-value.ts';
import type { EditorStore } from '../model/store.ts';

/** Paste target. */
export interface PastePlace {
  readonly at: Point;
  /** The innermost loop at the target and the position in it; triggers and notes are pasted outside. */
  readonly inLoop?: { readonly id: string; readonly at: Point };
}

/** The selection as text for the clipboard; null if nothing in it can be copied. */
export function selectionAsText(state: EditorState): string | null {
  if (state.selectedIds.length === 0) return null;
  const clip = cutOut(takeApart(state.toFlow()), state.selectedIds, state.placed);
  return clip.nodes.length === 0 && clip.notes === undefined ? null : writeClip(clip);
}

/** Pastes text, or reports why it can't. */
export function pasteText(
  store: EditorStore,
  t: TFunction,
  text: string,
  place: PastePlace | undefined,
): void {
  const read = readClip(text);
  if ('fault' in read) {
    void explain(read, t).then(notifyWarning);
    return;
  }
  const { clip } = read;
  const { nodeTypes, paste } = store.getState();
  const isBody =
    clip.notes === undefined && clip.nodes.every(({ type }) => nodeTypes.get(type)?.kind !== 'trigger');
  if (place?.inLoop !== undefined && isBody) paste(clip, place.inLoop.at, place.inLoop.id);
  else paste(clip, place?.at);
  if (read.leftOut > 0) notifyWarning(t('canvas.pasteLeftOut', { count: read.leftOut }));
}

async function explain(read: Exclude<Clipping, { readonly clip: unknown }>, t: TFunction): Promise<string> {
  switch (read.fault) {
    case 'noJson':
      return t('editor.pasteNothing');
    case 'noNodes':
      return t('canvas.pasteNoNodes');
    case 'foreign':
      return t('canvas.pasteForeign', { product: read.product });
    case 'brokenJson': {
      // Loaded when needed: the parser that finds places is larger than all else that pasting needs.
      const places = await import('@millrace/ui/components/json-place.ts').catch(() => null);
      if (places === null) return t('canvas.pasteBrokenUnplaced');
      return t('canvas.pasteBroken', { ...places.findJsonPlace(read.json) });
    }
  }
}

/** Copies the selection from a menu, where there is no clipboard event to fill. */
export async function copySelection(store: EditorStore, t: TFunction, isCut = false): Promise<void> {
  const state = store.getState();
  const text = selectionAsText(state);
  if (text === null) return;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard is writable only over HTTPS.
    notifyWarning(t('canvas.copyByKey'));
    return;
  }
  if (isCut) state.remove(state.selectedIds);
  else notifyDone(t('common.copied'));
}

export async function pasteFromClipboard(
  store: EditorStore,
  t: TFunction,
  at: Point | undefined,
): Promise<void> {
  let text: string;
  try {
    text = await navigator.clipboard.readText();
  } catch {
    notifyWarning(t('canvas.pasteByKey'));
    return;
  }
  pasteText(store, t, text, at === undefined ? undefined : { at });
}
