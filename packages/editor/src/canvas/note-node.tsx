import { ActionIcon, Group } from '@mantine/core';
import type { NoteNode } from '@millrace/editor-model/display.ts';
import type { StickyNote } from '@millrace/editor-model/editor-state.ts';
import { noteKeyOf } from '@millrace/editor-model/flow-value.ts';
import { useEditorStore } from '@millrace/editor-model/store.ts';
import { type NodeProps, NodeResizer, NodeToolbar, Position } from '@xyflow/react';
import { Trash2 } from 'lucide-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';

const COLOURS = ['yellow', 'blue', 'green', 'grey'] as const;
const MAX_LENGTH = 10_000;

/** A note in one of four colours. */
export const NoteNodeView = memo(function NoteNodeView({
  data: { note },
  selected,
  draggable,
}: NodeProps<NoteNode>) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const change = (members: Partial<StickyNote>) =>
    store.getState().changeSettings((settings) => ({
      ...settings,
      notes: (settings.notes ?? []).map((each) => (each.id === note.id ? { ...each, ...members } : each)),
    }));
  const isOpen = selected && draggable === true;
  return (
    <>
      <NodeResizer
        isVisible={isOpen}
        minWidth={100}
        minHeight={60}
        onResizeEnd={(_event, size) => store.getState().resize(noteKeyOf(note), size, size)}
        lineClassName="flow-resize-line"
        handleClassName="flow-resize-handle"
      />
      <NodeToolbar isVisible={isOpen} position={Position.Top} style={{ zIndex: 10 }}>
        <Group gap={4} className="flow-note-tools">
          {COLOURS.map((colour) => (
            <button
              key={colour}
              type="button"
              className={`flow-note-colour is-${colour}`}
              aria-label={t(`editor.noteColour.${colour}`)}
              aria-pressed={note.colour === colour}
              onClick={() => change({ colour })}
            />
          ))}
          <ActionIcon
            aria-label={t('editor.deleteNote')}
            onClick={() => store.getState().remove([noteKeyOf(note)])}
          >
            <Trash2 size={14} />
          </ActionIcon>
        </Group>
      </NodeToolbar>
      <div
        className={`flow-note is-${COLOURS.includes(note.colour) ? note.colour : 'grey'} ${selected ? 'is-selected' : ''}`}
      >
        {isOpen ? (
          <textarea
            className="nodrag nowheel"
            value={note.text}
            maxLength={MAX_LENGTH}
            placeholder={t('editor.notePlaceholder')}
            aria-label={t('editor.noteText')}
            onChange={({ currentTarget }) => change({ text: currentTarget.value })}
          />
        ) : (
          <p>{note.text === '' ? t('editor.notePlaceholder') : note.text}</p>
        )}
      </div>
    </>
  );
});
