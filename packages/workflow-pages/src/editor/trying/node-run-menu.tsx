import '@millrace/ui/i18n/parts/trying.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { ActionIcon, Menu } from '@mantine/core';
import { loopsAround } from '@millrace/editor-model/flow-scope.ts';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { own } from '@millrace/engine';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { ChevronDown, FastForward, Play, RotateCw, StepForward } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { flowToNode } from './flow-to-node.ts';
import { useRunOneNode } from './run-one-node.tsx';

/** What can be run from a node on; null: it can't be run by itself. */
function useNodeRuns(nodeId: string) {
  const { trial, runForm, showRun } = useEditorPage();
  const store = useEditorStore();
  const node = useEditor(({ nodes }) => nodes.find(({ id }) => id === nodeId));
  const kind = useEditor((state) => state.nodeTypes.get(node?.type ?? '')?.kind);
  const hasRun = useEditor(({ runs }) => own(runs, nodeId) !== undefined);
  const { run } = useRunOneNode(nodeId);
  if (node === undefined || kind === 'trigger') return null;
  const act = (start: () => Promise<unknown>) => () => {
    showRun();
    void start();
  };
  const rerun = async () => {
    if (trial.executionId === null) return;
    // Its input is that of the execution.
    const { input: _, input_of: __, ...request } = runForm.request();
    const last = loopsAround(store.getState(), nodeId).at(-1) ?? nodeId;
    await trial.start({ ...request, from_node: last, outputs_of: trial.executionId });
  };
  return {
    isBusy: trial.isBusy,
    /** Null: a node in a loop can't be run without the loop. */
    runNode: node.parentId == null ? act(run) : null,
    runTo: act(() => runForm.start(flowToNode(store.getState().toFlow(), nodeId))),
    /** Null: the execution on the canvas didn't get to it, hasn't ended, or has no outputs before it. */
    rerun: hasRun && !trial.isUnderWay && !trial.isReduced ? act(rerun) : null,
  };
}

/** Runs the open node alone or everything up to it; a menu beside it has all of {@link NodeRunLines}. */
export function NodeRunMenu({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const runs = useNodeRuns(nodeId);
  if (runs === null) return null;
  return (
    <Menu position="bottom-end" width={240}>
      <IconButton
        icon={Play}
        label={t(runs.runNode === null ? 'trying.runTo' : 'trying.runNode')}
        size="sm"
        disabled={runs.isBusy}
        onClick={runs.runNode ?? runs.runTo}
      />
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('trying.nodeMenu')} title={t('trying.nodeMenu')}>
          <ChevronDown size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <RunItems {...runs} />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The same in a node's own menu, apart from its other lines. */
export function NodeRunLines({ nodeId }: { nodeId: string }) {
  const runs = useNodeRuns(nodeId);
  if (runs === null) return null;
  return (
    <>
      <Menu.Divider />
      <RunItems {...runs} />
    </>
  );
}

/** Runs the node alone, everything up to it, or it and what follows with what came before in the execution on the canvas. */
function RunItems({ isBusy, runNode, runTo, rerun }: NonNullable<ReturnType<typeof useNodeRuns>>) {
  const { t } = useTranslation();
  return (
    <>
      {runNode !== null && (
        <Menu.Item leftSection={<StepForward size={14} />} disabled={isBusy} onClick={runNode}>
          {t('trying.runNode')}
        </Menu.Item>
      )}
      <Menu.Item leftSection={<FastForward size={14} />} disabled={isBusy} onClick={runTo}>
        {t('trying.runTo')}
      </Menu.Item>
      <Menu.Item
        leftSection={<RotateCw size={14} />}
        disabled={isBusy || rerun === null}
        onClick={() => rerun?.()}
      >
        {t('trying.rerunFrom')}
      </Menu.Item>
    </>
  );
}
