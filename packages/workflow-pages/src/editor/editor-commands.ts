import '@millrace/ui/i18n/parts/commands.ts';
import type { WorkflowDetail } from '@millrace/admin-api';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import type { Command } from '@millrace/ui/commands/commands.ts';
import i18next from 'i18next';
import { CirclePause, CirclePlay, Play, Save, Settings2, SquareFunction } from 'lucide-react';

/** What the editor can do. */
interface EditorActions {
  readonly openNode: (nodeId: string) => void;
  readonly run: () => void;
  readonly save: () => void;
  readonly activate: () => void;
  readonly deactivate: () => void;
  readonly showSettings: () => void;
}

/** The nodes of the open workflow, and what can be done with it. */
export function commandsOfEditor(
  store: EditorStore,
  workflow: WorkflowDetail,
  actions: EditorActions,
): readonly Command[] {
  const { nodes, nodeTypes, isReadOnly } = store.getState();
  const { t } = i18next;
  const ofNodes = nodes.map((node): Command => {
    const type = nodeTypes.get(node.type);
    return {
      id: `node-${node.id}`,
      group: 'nodes',
      title: titleOf(node, nodeTypes),
      hint: type?.title ?? node.type,
      synonyms: [node.id, type?.title ?? node.type],
      icon: SquareFunction,
      run: () => actions.openNode(node.id),
    };
  });
  const isActive = workflow.status === 'active';
  const ofWorkflow: Command[] = [
    { id: 'run', group: 'actions', title: t('commands.run'), icon: Play, run: actions.run },
    { id: 'save', group: 'actions', title: t('commands.save'), icon: Save, run: actions.save },
    isActive
      ? {
          id: 'deactivate',
          group: 'actions',
          title: t('commands.deactivate'),
          icon: CirclePause,
          run: actions.deactivate,
        }
      : {
          id: 'activate',
          group: 'actions',
          title: t('commands.activate'),
          icon: CirclePlay,
          run: actions.activate,
        },
  ];
  const settings: Command = {
    id: 'settings',
    group: 'actions',
    title: t('commands.workflowSettings'),
    icon: Settings2,
    run: actions.showSettings,
  };
  return [...(isReadOnly ? [] : ofWorkflow), settings, ...ofNodes];
}
