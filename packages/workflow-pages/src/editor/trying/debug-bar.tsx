import '@millrace/ui/i18n/parts/debugging.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { ActionIcon, Alert, Anchor, Button, Group, Popover, Stack, Text } from '@mantine/core';
import type { DebugData } from '@millrace/admin-api';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronDown, StepForward, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraftSync, useEditorPage } from '../editor-context.ts';

/** The execution whose data is worked with: what was pinned of it, and a rerun from where it failed with what has been fixed. */
export function DebugBar({ executionId }: { executionId: number }) {
  const { t } = useTranslation();
  const { org, workflow, trial } = useEditorPage();
  const navigate = useNavigate();
  const close = () => void navigate({ to: '.', search: {}, replace: true });
  const params = { org, execution: executionId };
  const debug = useQuery(endpointQuery('GET /orgs/:org/executions/:execution/debug', { params }));
  const { refetch } = debug;
  const status = trial.executionId === executionId ? trial.execution?.status : undefined;
  // What a rerun keeps depends on the saved version, and whether there can be one on the end.
  useEffect(() => void refetch(), [refetch, workflow.version, status]);
  const isGone =
    (debug.error instanceof ApiProblem && debug.error.status === 404) ||
    (debug.data !== undefined && debug.data.workflow_id !== workflow.id);
  return (
    <Alert py={4} px="sm" radius={0} role="region" aria-label={`${t('debugging.data')} #${executionId}`}>
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          {isGone ? (
            <Text size="xs">{t('debugging.gone', { id: executionId })}</Text>
          ) : (
            <>
              <Text size="xs">
                {t('debugging.data')}{' '}
                <Anchor
                  size="xs"
                  renderRoot={(props) => (
                    <Link {...props} to={`/o/${org}/executions/${executionId}` as '/'} />
                  )}
                >
                  #{executionId}
                </Anchor>
              </Text>
              {debug.data !== undefined && <Found data={debug.data} />}
              {debug.data?.rerun != null && <Rerun executionId={executionId} />}
            </>
          )}
        </Group>
        <ActionIcon size="sm" aria-label={t('debugging.close')} title={t('debugging.close')} onClick={close}>
          <X size={14} />
        </ActionIcon>
      </Group>
    </Alert>
  );
}

/** What was pinned and what wasn't, and what a rerun keeps. */
function Found({ data }: { data: DebugData }) {
  const { t } = useTranslation();
  const nameOf = useNames();
  const pins = useEditor((state) => state.pins);
  const { masked, left_out: leftOut, rerun } = data;
  const pinned = data.pinned.filter((id) => Object.hasOwn(pins, id));
  const others = data.pinned.filter((id) => !Object.hasOwn(pins, id));
  const counts = [
    t('debugging.pinned', { count: pinned.length }),
    ...(leftOut.length === 0 ? [] : [t('debugging.leftOut', { count: leftOut.length })]),
  ];
  const byReason = [...Map.groupBy(leftOut, ({ reason }) => reason)];
  return (
    <Popover position="bottom-start" width={360} trapFocus>
      <Popover.Target>
        <Button size="compact-xs" variant="subtle" rightSection={<ChevronDown size={12} aria-hidden />}>
          {counts.join(' · ')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown mah="60dvh" style={{ overflow: 'auto' }} aria-label={t('debugging.details')}>
        <Stack gap="xs" tabIndex={-1} data-autofocus>
          <Names title={t('debugging.pinnedTitle')} ids={pinned} />
          {others.length > 0 && <Names title={t('debugging.others')} ids={others} />}
          <Hint>{t('debugging.succeededOnly')}</Hint>
          {masked.length > 0 && <Names title={t('debugging.masked')} ids={masked} />}
          {byReason.map(([reason, nodes]) => (
            <Text size="xs" key={reason}>
              <strong>{nodes.map(({ node_id: id }) => nameOf(id)).join(', ')}</strong>{' '}
              {t(`debugging.reason.${reason}`)}
            </Text>
          ))}
          {rerun !== null && rerun.kept.length > 0 && <Names title={t('debugging.kept')} ids={rerun.kept} />}
          {rerun !== null && rerun.again.length > 0 && (
            <Names title={t('debugging.again')} ids={rerun.again} />
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Names({ title, ids }: { title: string; ids: readonly string[] }) {
  const nameOf = useNames();
  return (
    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
      {title} <strong>{ids.length === 0 ? '–' : ids.map(nameOf).join(', ')}</strong>
    </Text>
  );
}

/** Names nodes as the canvas does. */
function useNames(): (id: string) => string {
  const { nodes, nodeTypes } = useEditorState('nodes', 'nodeTypes');
  return (id) => {
    const node = nodes.find((each) => each.id === id);
    return node === undefined ? id : titleOf(node, nodeTypes);
  };
}

/** Saves what has changed and goes on from the failed node; asks if a node with effects would run again. */
function Rerun({ executionId }: { executionId: number }) {
  const { t } = useTranslation();
  const { org, save, trial, showRun, showProblems } = useEditorPage();
  const { nodes, nodeTypes, isReadOnly } = useEditorState('nodes', 'nodeTypes', 'isReadOnly');
  const hasProblems = useEditor(({ problems }) => problems.length > 0);
  const isSame = useDraftSync((state) => state.status === 'same');
  const navigate = useNavigate();
  const nameOf = useNames();
  const [again, setAgain] = useState<readonly string[] | null>(null);
  const params = { org, execution: executionId };
  const hasEffects = (id: string) => {
    const node = nodes.find((each) => each.id === id);
    const isIn = (inner: (typeof nodes)[number]): boolean =>
      inner.id === id || nodes.some((loop) => loop.id === inner.parentId && isIn(loop));
    return (
      node !== undefined && nodes.some((each) => isIn(each) && nodeTypes.get(each.type)?.kind === 'effect')
    );
  };
  const rerun = useChange(
    () =>
      call('POST /orgs/:org/executions/:execution/rerun', {
        params,
        body: { from: 'failed_node', version: 'saved' },
      }),
    {
      onSuccess: ({ execution_id: id }) => {
        notifyDone(t('debugging.started', { id }));
        showRun();
        return navigate({ to: '.', search: { execution: id } as never, replace: true });
      },
      onSettled: () => setAgain(null),
    },
  );
  // Only the saved version shows what would run again.
  const prepare = useChange(
    async () => {
      if (!(await save())) return null;
      return call('GET /orgs/:org/executions/:execution/debug', { params });
    },
    {
      onSuccess: (data) => {
        const repeated = data?.rerun?.again.filter(hasEffects) ?? [];
        if (repeated.length > 0) setAgain(repeated);
        else if (data != null) rerun.mutate();
      },
    },
  );
  if (isReadOnly) return null;
  return (
    <>
      <Button
        size="compact-xs"
        leftSection={<StepForward size={12} aria-hidden />}
        loading={prepare.isPending || rerun.isPending}
        disabled={trial.isUnderWay}
        title={t('debugging.rerunHint')}
        onClick={() => (hasProblems ? showProblems() : prepare.mutate())}
      >
        {t(isSame ? 'debugging.rerun' : 'debugging.saveAndRerun')}
      </Button>
      <ConfirmDialog
        isOpen={again !== null}
        title={t('debugging.againTitle')}
        action={t('debugging.rerun')}
        isBusy={rerun.isPending}
        onConfirm={() => rerun.mutate()}
        onClose={() => setAgain(null)}
      >
        {t('debugging.againText')} {(again ?? []).map(nameOf).join(', ')}
      </ConfirmDialog>
    </>
  );
}
