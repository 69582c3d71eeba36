import { useReactFlow } from '@xyflow/react';
import { useEffect, useEffectEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyWarning } from '../ui/notify.ts';
import type { PaletteRequest } from './canvas-actions.ts';
import { cutOut, readClip, writeClip } from './clip.ts';
import type { EditorState, Point } from './editor-state.ts';
import { edgeKeyOf, noteKeyOf, takeApart } from './flow-value.ts';
import { useEditorStore } from './store.ts';

/** Keys and clipboard of the canvas. It leaves alone what is typed into a field, and everything below a dialog. */
export function CanvasKeys({
  isList,
  onPalette,
  onTidy,
  onMap,
  onOpenNode,
  pasteAt,
}: {
  readonly isList: boolean;
  readonly onPalette: (request: PaletteRequest) => void;
  readonly onTidy: () => void;
  readonly onMap: () => void;
  readonly onOpenNode?: (nodeId: string | null) => void;
  readonly pasteAt: () => Point | undefined;
}) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const { fitView, zoomIn, zoomOut } = useReactFlow();

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isBusy(event.target)) return;
    const state = store.getState();
    const act = findAct(event, state);
    if (act === null) return;
    event.preventDefault();
    act();
  });

  function findAct(event: KeyboardEvent, state: EditorState): (() => void) | null {
    const key = event.key.toLowerCase();
    const isControl = event.ctrlKey || event.metaKey;
    const changing = (act: () => void) => (state.isReadOnly ? null : act);
    if (isControl && !event.altKey) {
      if (key === 'k') return changing(() => onPalette(requestOf(state)));
      if (key === 'z') return changing(event.shiftKey ? state.redo : state.undo);
      if (key === 'y') return changing(state.redo);
      if (key === 'a') return () => state.select(everything(state));
      if (key === 'd') return changing(() => state.duplicate(state.selectedIds));
      return null;
    }
    if (isControl || event.altKey) return null;
    if (key === 'delete' || key === 'backspace') {
      const ids = state.selectedIds.length > 0 ? state.selectedIds : focusedIds(event.target);
      return ids.length === 0 ? null : changing(() => state.remove(ids));
    }
    if (key === 'escape') {
      return () => {
        state.select([]);
        onOpenNode?.(null);
      };
    }
    if (key === '/') return changing(() => onPalette(requestOf(state)));
    // On a button or link, Enter is its own.
    const isOnNode = event.target instanceof Element && event.target.closest('.react-flow__node') !== null;
    if (key === 'enter' && isOnNode) return openSelected(event);
    if (isList) return null;
    switch (key) {
      case 'l':
        return changing(onTidy);
      case 'f':
        return () => void fitView({ padding: 0.15, maxZoom: 1 });
      case 'm':
        return onMap;
      case '+':
        return () => void zoomIn();
      case '-':
        return () => void zoomOut();
      default:
        return null;
    }
  }

  function openSelected(event: KeyboardEvent): (() => void) | null {
    const id = (event.target as Element).closest('.react-flow__node')?.getAttribute('data-id') ?? null;
    const isNode = store.getState().nodes.some((node) => node.id === id);
    if (id === null || !isNode) return null;
    return () => {
      store.getState().select([id]);
      onOpenNode?.(id);
    };
  }

  const onCopy = useEffectEvent((event: ClipboardEvent, isCut: boolean) => {
    if (isBusy(event.target) || document.getSelection()?.isCollapsed === false) return;
    const state = store.getState();
    if (state.selectedIds.length === 0) return;
    const clip = cutOut(takeApart(state.toFlow()), state.selectedIds, state.placed);
    if (clip.nodes.length === 0 && clip.notes === undefined) return;
    event.clipboardData?.setData('text/plain', writeClip(clip));
    event.preventDefault();
    if (isCut && !state.isReadOnly) state.remove(state.selectedIds);
  });
  const onPaste = useEffectEvent((event: ClipboardEvent) => {
    if (isBusy(event.target) || store.getState().isReadOnly) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text.trim() === '') return;
    event.preventDefault();
    const clip = readClip(text);
    if (clip === null) notifyWarning(t('editor.pasteNothing'));
    else store.getState().paste(clip, pasteAt());
  });

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    document.addEventListener('keydown', (event) => onKey(event), { signal });
    document.addEventListener('copy', (event) => onCopy(event, false), { signal });
    document.addEventListener('cut', (event) => onCopy(event, true), { signal });
    document.addEventListener('paste', (event) => onPaste(event), { signal });
    return () => stop.abort();
  }, []);
  return null;
}

/** With one edge selected, a new node goes onto it. */
function requestOf({ edges, selectedIds }: EditorState): PaletteRequest {
  const [only, ...others] = selectedIds;
  const isEdge = edges.some((edge, index) => edgeKeyOf(edge, index) === only);
  return only !== undefined && others.length === 0 && isEdge ? { place: { onEdge: only } } : {};
}

function everything({ nodes, edges, settings }: EditorState): readonly string[] {
  return [...nodes.map(({ id }) => id), ...edges.map(edgeKeyOf), ...(settings.notes ?? []).map(noteKeyOf)];
}

/** The node or edge that has the focus: with the keyboard it need not be selected first. */
function focusedIds(target: EventTarget | null): readonly string[] {
  if (!(target instanceof Element)) return [];
  const id = target.closest('.react-flow__node, .react-flow__edge')?.getAttribute('data-id');
  return id == null ? [] : [id];
}

/** Whether keys mean something else where they are pressed. */
function isBusy(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('input, textarea, select, [contenteditable="true"], .cm-editor') !== null) return true;
  return target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
}
