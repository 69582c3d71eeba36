import { Button, Divider, Group, Paper } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { FINGER } from '@millrace/editor-model/canvas-id.ts';
import { NEW_NOTE, useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useReactFlow, useStore } from '@xyflow/react';
import {
  Keyboard,
  ListTree,
  type LucideIcon,
  Map as MapIcon,
  Maximize,
  Network,
  Plus,
  SquareDashedMousePointer,
  StickyNote,
  Workflow,
  ZoomIn,
  ZoomOut,
} from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const KeyboardMap = lazyPart(async () => (await import('./keyboard-map.tsx')).KeyboardMap);

/** What the tools above a note need, in pixels on the screen. */
const NOTE_TOOLS = 56;

/** Actions on the whole flow. */
export function CanvasToolbar({
  isList,
  onView,
  hasMap,
  onMap,
  isSelecting,
  onSelecting,
  onAdd,
  onTidy,
  onFit,
}: {
  isList: boolean;
  onView: (view: 'picture' | 'list') => void;
  /** Null: the canvas is too small for the minimap. */
  hasMap: boolean | null;
  onMap: (has: boolean) => void;
  isSelecting: boolean;
  onSelecting: (is: boolean) => void;
  onAdd: () => void;
  onTidy: () => void;
  onFit: () => void;
}) {
  const { t } = useTranslation();
  const { zoomIn, zoomOut, screenToFlowPosition } = useReactFlow();
  const store = useEditorStore();
  const zoom = useStore(({ transform }) => Math.round(transform[2] * 100));
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isFinger = useMediaQuery(FINGER) ?? false;
  const [hasKeys, setHasKeys] = useState(false);
  useHotkeys([
    ['shift+?', () => setHasKeys(true)],
    ['?', () => setHasKeys(true)],
  ]);
  const addNote = async () => {
    // Loaded on first use.
    const { placeForNote } = await import('@millrace/editor-model/note-place.ts');
    const box = document.querySelector('.flow-canvas')?.getBoundingClientRect() ?? new DOMRect();
    const from = screenToFlowPosition({ x: box.left, y: box.top + NOTE_TOOLS });
    const to = screenToFlowPosition({ x: box.right, y: box.bottom });
    const state = store.getState();
    state.addNote(placeForNote({ from, to }, NEW_NOTE.size, state));
  };
  return (
    <Paper withBorder p={4} className="flow-toolbar">
      <Group gap={2} wrap="nowrap">
        {!isReadOnly && (
          <>
            <Button
              size="compact-sm"
              leftSection={<Plus size={14} />}
              onClick={onAdd}
              title={t('editor.addNodeKeys')}
            >
              {t('editor.addNode')}
            </Button>
            {!isList && (
              <Tool
                icon={StickyNote}
                label={t('editor.addNote')}
                onClick={() => void addNote().catch(notifyFailure)}
              />
            )}
            <Tool icon={Network} label={t('editor.tidy')} onClick={onTidy} />
            <Divider orientation="vertical" mx={2} />
          </>
        )}
        {!isList && (
          <>
            <Tool icon={ZoomOut} label={t('editor.zoomOut')} onClick={() => void zoomOut()} />
            <Hint w={36} ta="center" visibleFrom="sm">
              {zoom}%
            </Hint>
            <Tool icon={ZoomIn} label={t('editor.zoomIn')} onClick={() => void zoomIn()} />
            <Tool icon={Maximize} label={t('editor.fit')} onClick={onFit} />
            {/* For devices without a Shift key. */}
            {isFinger && (
              <Tool
                icon={SquareDashedMousePointer}
                label={t('canvas.selectSeveral')}
                isOn={isSelecting}
                onClick={() => onSelecting(!isSelecting)}
              />
            )}
            {hasMap !== null && (
              <Tool icon={MapIcon} label={t('editor.map')} isOn={hasMap} onClick={() => onMap(!hasMap)} />
            )}
          </>
        )}
        <Tool
          icon={isList ? Workflow : ListTree}
          label={isList ? t('editor.showPicture') : t('editor.showList')}
          onClick={() => onView(isList ? 'picture' : 'list')}
        />
        <Tool icon={Keyboard} label={t('editor.keys.title')} onClick={() => setHasKeys(true)} />
      </Group>
      {hasKeys && <KeyboardMap isReadOnly={isReadOnly} onClose={() => setHasKeys(false)} />}
    </Paper>
  );
}

function Tool({
  icon: Icon,
  label,
  onClick,
  isOn,
}: {
  icon: LucideIcon;
  label: string;
  onClick: () => void;
  isOn?: boolean;
}) {
  return (
    <IconButton
      icon={Icon}
      label={label}
      onClick={onClick}
      {...(isOn === undefined ? {} : { 'aria-pressed': isOn, variant: isOn ? 'light' : 'subtle' })}
    />
  );
}
