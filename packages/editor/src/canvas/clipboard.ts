import { type Clipping, cutOut, readClip, writeClip } from '@millrace/editor-model/clip.ts';
import type { EditorState, FlowClip, Point } from '@millrace/editor-model/editor-state.ts';
import { takeApart } from '@millrace/editor-model/flow-value.ts';
import { isDifyText, isImported } from '@millrace/editor-model/foreign-product.ts';
import type { InLoop } from '@millrace/editor-model/geometry.ts';
import { isCurl, isUrl } from '@millrace/editor-model/pasted-text.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import { notifyDone, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { TFunction } from 'i18next';

/** Paste target. */
export interface PastePlace {
  readonly at: Point;
  /** The innermost loop at the target and the position in it; triggers and notes are pasted outside. */
  readonly inLoop?: InLoop;
}

/** The selection as text for the clipboard; null if nothing in it can be copied. */
export function selectionAsText(state: EditorState): string | null {
  if (state.selectedIds.length === 0) return null;
  const clip = cutOut(takeApart(state.toFlow()), state.selectedIds, state.placed);
  return clip.nodes.length === 0 && clip.notes === undefined ? null : writeClip(clip);
}

/** Pastes text (nodes, a workflow of another product, a curl command, a URL), or reports why it can't. */
export function pasteText(
  store: EditorStore,
  t: TFunction,
  text: string,
  { place, org }: { readonly place: PastePlace | undefined; readonly org: number },
): void {
  const paste = (clip: FlowClip) => pasteAt(store, clip, place);
  if (isCurl(text) || isUrl(text)) {
    void loadOther(t).then((other) => other?.pasteRequest(store, t, text, paste));
    return;
  }
  const read = readClip(text);
  if ('fault' in read) {
    const original = originalIn(read, text);
    if (original !== null) {
      void loadOther(t).then((other) => other?.pasteImported(store, t, original, org, paste));
      return;
    }
    void explain(read, t).then(notifyWarning);
    return;
  }
  const wasEmpty = store.getState().nodes.length === 0;
  paste(read.clip);
  if (Object.keys(read.settings).length > 0) {
    void loadOther(t).then((other) => other?.pasteSettings(store, t, read.settings, wasEmpty));
  }
  if (read.leftOut > 0) notifyWarning(t('canvas.pasteLeftOut', { count: read.leftOut }));
}

/** The text of a workflow that the service can make one of; null for any other. */
function originalIn(read: Exclude<Clipping, { readonly clip: unknown }>, text: string): string | null {
  if (read.fault === 'foreign') return isImported(read.product) ? read.json : null;
  return read.fault === 'noJson' && isDifyText(text) ? text : null;
}

function pasteAt(store: EditorStore, clip: FlowClip, place: PastePlace | undefined): readonly string[] {
  const { nodeTypes, paste } = store.getState();
  const isBody =
    clip.notes === undefined && clip.nodes.every(({ type }) => nodeTypes.get(type)?.kind !== 'trigger');
  if (place?.inLoop !== undefined && isBody) return paste(clip, place.inLoop.at, place.inLoop.id);
  return paste(clip, place?.at);
}

/** Loaded when needed: most of what is pasted are nodes. */
async function loadOther(t: TFunction) {
  try {
    return await import('./paste-other.ts');
  } catch {
    notifyWarning(t('common.errorUnreachable'));
    return null;
  }
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
  { at, org }: { readonly at: Point | undefined; readonly org: number },
): Promise<void> {
  let text: string;
  try {
    text = await navigator.clipboard.readText();
  } catch {
    notifyWarning(t('canvas.pasteByKey'));
    return;
  }
  pasteText(store, t, text, { place: at === undefined ? undefined : { at }, org });
}
