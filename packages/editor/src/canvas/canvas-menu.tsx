import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Menu } from '@mantine/core';
import type { AddPlace, Point } from '@millrace/editor-model/editor-state.ts';
import { everythingIn, useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import {
  AlignStartHorizontal,
  AlignStartVertical,
  ClipboardPaste,
  Maximize,
  Network,
  Plus,
  Spline,
  SquareDashedMousePointer,
  StickyNote,
  Trash2,
} from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { pasteFromClipboard } from './clipboard.ts';
import { afterMenu, CopyLines, FITTING_MENU, MenuLine, NodeMenuItems } from './node-menu-items.tsx';

/** The menu's target; for nodes and notes selected together, all of them. */
export type MenuSubject =
  | { readonly kind: 'node'; readonly id: string }
  | { readonly kind: 'edge'; readonly key: string }
  | { readonly kind: 'selection' }
  /** `at`: position on the canvas. */
  | { readonly kind: 'canvas'; readonly at: Point };

export interface MenuRequest {
  readonly subject: MenuSubject;
  /** Position on the screen. */
  readonly at: Point;
}

interface MenuActions {
  readonly onOpen: (nodeId: string) => void;
  readonly onAdd: (place: AddPlace) => void;
  readonly onConnect: (of: { readonly sourceId: string } | { readonly edgeKey: string }) => void;
  readonly onTidy: () => void;
  readonly onFit: () => void;
}

/** The context menu of what was right-clicked, or focused when the menu key was pressed. */
export function CanvasMenu({
  request: { subject, at },
  onClose,
  ...actions
}: MenuActions & { request: MenuRequest; onClose: () => void }) {
  const { t } = useTranslation();
  const [before] = useState(() => document.activeElement);
  const close = () => {
    onClose();
    if (before instanceof HTMLElement || before instanceof SVGElement) before.focus({ preventScroll: true });
  };
  return (
    <Menu
      {...FITTING_MENU}
      opened
      onClose={close}
      position="bottom-start"
      offset={0}
      shadow="md"
      transitionProps={{ duration: 0 }}
    >
      {/* The menu's anchor, invisible and unfocusable. */}
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          className="flow-menu-place"
          aria-label={t(`canvas.menuOf.${subject.kind}`)}
          style={{ left: at.x, top: at.y }}
        />
      </Menu.Target>
      <Menu.Dropdown
        className="flow-menu"
        aria-label={t(`canvas.menuOf.${subject.kind}`)}
        onContextMenu={(event) => event.preventDefault()}
      >
        {subject.kind === 'node' && <NodeLines id={subject.id} {...actions} />}
        {subject.kind === 'edge' && <EdgeLines edgeKey={subject.key} {...actions} />}
        {subject.kind === 'selection' && <SelectionLines {...actions} />}
        {subject.kind === 'canvas' && <PaneLines at={subject.at} {...actions} />}
      </Menu.Dropdown>
    </Menu>
  );
}

function NodeLines({ id, onOpen, onAdd, onConnect }: MenuActions & { id: string }) {
  const node = useEditor(({ nodes }) => nodes.find((each) => each.id === id));
  if (node === undefined) return null;
  return (
    <NodeMenuItems
      node={node}
      onOpen={() => onOpen(id)}
      onConnect={() => onConnect({ sourceId: id })}
      onAddAfter={() => onAdd({ after: id })}
    />
  );
}

function EdgeLines({ edgeKey, onAdd, onConnect }: MenuActions & { edgeKey: string }) {
  const { t } = useTranslation();
  const store = useEditorStore();
  return (
    <>
      <MenuLine
        icon={Plus}
        label={t('editor.insertHere')}
        keys="/"
        onClick={afterMenu(() => onAdd({ onEdge: edgeKey }))}
      />
      <MenuLine
        icon={Spline}
        label={t('canvas.menu.leadElsewhere')}
        onClick={afterMenu(() => onConnect({ edgeKey }))}
      />
      <MenuLine
        icon={Trash2}
        label={t('editor.removeEdge')}
        keys="Del"
        isRed
        onClick={() => store.getState().remove([edgeKey])}
      />
    </>
  );
}

function SelectionLines({ onTidy }: MenuActions) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const count = useEditor((state) => state.selectedIds.length);
  const lineUp = (as: 'row' | 'column') =>
    void import('@millrace/editor-model/arrange.ts')
      .then((arrange) => arrange.lineUp(store.getState(), as))
      .catch(notifyFailure);
  return (
    <>
      <Menu.Label>{t('canvas.menu.selected', { count })}</Menu.Label>
      <CopyLines />
      {!isReadOnly && (
        <>
          {count > 1 && (
            <>
              <Menu.Divider />
              <MenuLine icon={Network} label={t('canvas.menu.tidySelected')} keys="L" onClick={onTidy} />
              <MenuLine
                icon={AlignStartHorizontal}
                label={t('canvas.menu.row')}
                onClick={() => lineUp('row')}
              />
              <MenuLine
                icon={AlignStartVertical}
                label={t('canvas.menu.column')}
                onClick={() => lineUp('column')}
              />
            </>
          )}
          <Menu.Divider />
          <MenuLine
            icon={Trash2}
            label={t('common.delete')}
            keys="Del"
            isRed
            onClick={() => store.getState().remove(store.getState().selectedIds)}
          />
        </>
      )}
    </>
  );
}

function PaneLines({ at, onAdd, onTidy, onFit }: MenuActions & { at: Point }) {
  const { t } = useTranslation();
  const org = useOrg();
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return (
    <>
      {!isReadOnly && (
        <>
          <MenuLine
            icon={Plus}
            label={t('editor.addNode')}
            keys="/"
            onClick={afterMenu(() => onAdd({ at }))}
          />
          <MenuLine
            icon={StickyNote}
            label={t('editor.addNote')}
            onClick={() => store.getState().addNote(at)}
          />
          <MenuLine
            icon={ClipboardPaste}
            label={t('canvas.menu.paste')}
            keys="Ctrl+V"
            onClick={() => void pasteFromClipboard(store, t, { at, org })}
          />
          <Menu.Divider />
          <MenuLine icon={Network} label={t('editor.tidy')} keys="L" onClick={onTidy} />
        </>
      )}
      <MenuLine
        icon={SquareDashedMousePointer}
        label={t('editor.keys.selectAll')}
        keys="Ctrl+A"
        onClick={() => store.getState().select(everythingIn(store.getState()))}
      />
      <MenuLine icon={Maximize} label={t('editor.fit')} keys="F" onClick={onFit} />
    </>
  );
}
