import { useEditorStore } from '@millrace/editor-model/store.ts';
import { useCommandSource } from '@millrace/ui/commands/commands.ts';
import { useNoteRecent } from '@millrace/ui/commands/use-note-recent.ts';
import { useCallback, useEffect, useRef } from 'react';
import { useEditorPage } from './editor-context.ts';
import { useActivation } from './use-activation.ts';

/** Offers the open workflow's nodes and actions to the command palette. */
export function EditorCommandSource({ onRun, onSettings }: { onRun: () => void; onSettings: () => void }) {
  const { workflow, openNode, save } = useEditorPage();
  const { activate, deactivate } = useActivation();
  const store = useEditorStore();
  useNoteRecent('workflow', workflow.id, workflow.name);
  const latest = useRef({ workflow, openNode, save, activate, deactivate, onRun, onSettings });
  useEffect(() => {
    latest.current = { workflow, openNode, save, activate, deactivate, onRun, onSettings };
  });
  useCommandSource(
    useCallback(async () => {
      const { commandsOfEditor } = await import('./editor-commands.ts');
      const { workflow: shown, ...now } = latest.current;
      return commandsOfEditor(store, shown, {
        ...now,
        save: () => void now.save(),
        run: now.onRun,
        showSettings: now.onSettings,
      });
    }, [store]),
  );
  return null;
}
