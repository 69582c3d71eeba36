import { useWindowEvent } from '@mantine/hooks';
import { fromCanvasId } from '@millrace/editor-model/canvas-id.ts';
import type { EditorState } from '@millrace/editor-model/editor-state.ts';
import { edgeKeyOf } from '@millrace/editor-model/flow-value.ts';
import { everythingIn, useEditorStore } from '@millrace/editor-model/store.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useReactFlow, useStoreApi } from '@xyflow/react';
import { useTranslation } from 'react-i18next';
import type { PaletteRequest } from './canvas-actions.ts';
import type { MenuRequest } from './canvas-menu.tsx';
import { type PastePlace, pasteText, selectionAsText } from './clipboard.ts';
import { subjectOfEdge, subjectOfNode } from './use-context-menus.ts';

interface KeyActions {
  readonly isList: boolean;
  readonly onPalette: (request: PaletteRequest) => void;
  readonly onMenu: (request: MenuRequest) => void;
  readonly onTidy: () => void;
  readonly onFit: () => void;
  readonly onMap: () => void;
  readonly onOpenNode?: (nodeId: string | null) => void;
}

type Act = (() => void) | null;

/** Keyboard shortcuts and clipboard of the canvas. Ignores input in fields and everything in dialogs. */
export function CanvasKeys({
  pasteAt,
  ...actions
}: KeyActions & { readonly pasteAt: () => PastePlace | undefined }) {
  const store = useEditorStore();
  const { zoomIn, zoomOut, zoomTo } = useReactFlow();
  const flow = useStoreApi();
  const { isList, onPalette, onMenu, onTidy, onFit, onMap, onOpenNode } = actions;
  useClipboard(pasteAt);
  useWindowEvent('keydown', (event) => {
    if (event.defaultPrevented || (isBusy(event.target) && !isPaletteKey(event))) return;
    const state = store.getState();
    const act = findAct(event, state);
    if (act === null) return;
    event.preventDefault();
    act();
  });

  function findAct(event: KeyboardEvent, state: EditorState): Act {
    const key = event.key.toLowerCase();
    const isControl = event.ctrlKey || event.metaKey;
    const changing = (act: () => void) => (state.isReadOnly ? null : act);
    if (isControl && !event.altKey) {
      if (key === '/') return changing(() => onPalette(requestOf(state)));
      if (key === 'z') return changing(event.shiftKey ? state.redo : state.undo);
      if (key === 'y') return changing(state.redo);
      if (key === 'a') return () => state.select(everythingIn(state));
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
        flow.setState({ connectionClickStartHandle: null });
        state.select([]);
        onOpenNode?.(null);
      };
    }
    if (key === 'contextmenu' || (key === 'f10' && event.shiftKey)) {
      return isList ? null : menuOf(event.target);
    }
    if (key === '/') return changing(() => onPalette(requestOf(state)));
    // Enter activates a focused button or link.
    if (key === 'enter' && event.target instanceof Element) {
      const focused = event.target.closest('.react-flow__node');
      if (focused !== null) return openNode(focused);
    }
    if (isList) return null;
    switch (key) {
      case 'l':
        return changing(onTidy);
      case 'f':
        return onFit;
      case 'm':
        return onMap;
      case '+':
        return () => void zoomIn();
      case '-':
        return () => void zoomOut();
      case '0':
        return () => void zoomTo(1);
      default:
        return null;
    }
  }

  /** Opens the menu of the focused node or edge, else of the selection. */
  function menuOf(target: EventTarget | null): Act {
    if (!(target instanceof Element)) return null;
    const element =
      target.closest('.react-flow__node, .react-flow__edge') ??
      document.querySelector(
        '.flow-canvas .react-flow__node.selected, .flow-canvas .react-flow__edge.selected',
      );
    const [id] = focusedIds(element);
    if (element === null || id === undefined) return null;
    const isEdge = element.classList.contains('react-flow__edge');
    const subject = isEdge ? subjectOfEdge(store, id) : subjectOfNode(store, id);
    const { x, y, width, height } = element.getBoundingClientRect();
    const at = isEdge ? { x: x + width / 2, y: y + height / 2 } : { x: x + 24, y: y + Math.min(height, 40) };
    return subject === null ? null : () => onMenu({ subject, at });
  }

  function openNode(element: Element): Act {
    const [id] = focusedIds(element);
    const { nodes, select } = store.getState();
    if (id === undefined || !nodes.some((node) => node.id === id)) return null;
    return () => {
      select([id]);
      onOpenNode?.(id);
    };
  }
  return null;
}

function useClipboard(pasteAt: () => PastePlace | undefined): void {
  const { t } = useTranslation();
  const org = useOrg();
  const store = useEditorStore();
  const copy = (event: ClipboardEvent) => {
    if (isBusy(event.target) || document.getSelection()?.isCollapsed === false) return;
    const state = store.getState();
    const text = selectionAsText(state);
    if (text === null) return;
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    if (event.type === 'cut' && !state.isReadOnly) state.remove(state.selectedIds);
  };
  useWindowEvent('copy', copy);
  useWindowEvent('cut', copy);
  useWindowEvent('paste', (event) => {
    if (isBusy(event.target) || store.getState().isReadOnly) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text.trim() === '') return;
    event.preventDefault();
    pasteText(store, t, text, { place: pasteAt(), org });
  });
}

/** With a single edge selected, the new node is inserted on it. */
function requestOf({ edges, selectedIds }: EditorState): PaletteRequest {
  const [only, ...others] = selectedIds;
  const isEdge = edges.some((edge, index) => edgeKeyOf(edge, index) === only);
  return only !== undefined && others.length === 0 && isEdge ? { place: { onEdge: only } } : {};
}

/** The focused node or edge, which with the keyboard needn't be selected first. */
function focusedIds(target: EventTarget | null): readonly string[] {
  if (!(target instanceof Element)) return [];
  const id = target.closest('.react-flow__node, .react-flow__edge')?.getAttribute('data-id');
  return id == null ? [] : [fromCanvasId(id)];
}

/** Ctrl+/ works in the fields of a form, too, where a slash is text; editors of code comment lines with it. */
function isPaletteKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  const isKey = (ctrlKey || metaKey) && !altKey && key === '/';
  return isKey && target instanceof Element && target.closest(OVER_THE_CANVAS) === null;
}

const OVER_THE_CANVAS = '[role="dialog"], [role="menu"], [role="listbox"]';

/** Whether the event's target handles keys itself. */
function isBusy(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('input, textarea, select, [contenteditable="true"], .cm-editor') !== null) return true;
  return target.closest(OVER_THE_CANVAS) !== null;
}
