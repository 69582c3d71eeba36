import '@millrace/ui/i18n/parts/trying.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { ActionIcon, Menu } from '@mantine/core';
import { loopsAround } from '@millrace/editor-model/flow-scope.ts';
import { own } from '@millrace/editor-model/flow-value.ts';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { ChevronDown, FastForward, Play, RotateCw, StepForward } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { flowToNode } from './flow-to-node.ts';
import { useRunOneNode } from './run-one-node.tsx';

/** Runs the open node alone, everything up to it, or it and what follows with what came before in the execution on the canvas. */
export function NodeRunMenu({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const { trial, runForm, showRun } = useEditorPage();
  const store = useEditorStore();
  const node = useEditor(({ nodes }) => nodes.find(({ id }) => id === nodeId));
  const kind = useEditor((state) => state.nodeTypes.get(node?.type ?? '')?.kind);
  const hasRun = useEditor(({ runs }) => own(runs, nodeId) !== undefined);
  const { run } = useRunOneNode(nodeId);
  if (node === undefined || kind === 'trigger') return null;
  const isBusy = trial.isUnderWay || trial.isStarting;
  const act = (start: () => void) => () => {
    showRun();
    start();
  };
  const rerun = () => {
    if (trial.executionId === null) return;
    // Its input is that of the execution.
    const { input: _, input_of: __, ...request } = runForm.request();
    const last = loopsAround(store.getState(), nodeId).at(-1) ?? nodeId;
    void trial.start({ ...request, from_node: last, outputs_of: trial.executionId });
  };
  const runTo = act(() => void runForm.start(flowToNode(store.getState().toFlow(), nodeId)));
  // A node in a loop can't be run without the loop.
  const isInLoop = node.parentId != null;
  return (
    <Menu position="bottom-end" width={240}>
      <IconButton
        icon={Play}
        label={t(isInLoop ? 'trying.runTo' : 'trying.runNode')}
        size="sm"
        disabled={isBusy}
        onClick={isInLoop ? runTo : act(run)}
      />
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('trying.nodeMenu')} title={t('trying.nodeMenu')}>
          <ChevronDown size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {!isInLoop && (
          <Menu.Item leftSection={<StepForward size={14} />} disabled={isBusy} onClick={act(run)}>
            {t('trying.runNode')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<FastForward size={14} />} disabled={isBusy} onClick={runTo}>
          {t('trying.runTo')}
        </Menu.Item>
        <Menu.Item
          leftSection={<RotateCw size={14} />}
          disabled={isBusy || !hasRun || trial.isReduced}
          onClick={act(rerun)}
        >
          {t('trying.rerunFrom')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
