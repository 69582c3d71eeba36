import { Button, Menu } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { ConfirmLater } from '@millrace/ui/components/confirm-later.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Ban, ChevronDown, Columns2, FileInput, RotateCw, StepForward } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isUnderWay } from '../common/under-way.ts';
import { OpenInEditor } from './open-in-editor.tsx';

const RerunDialog = lazyPart(async () => (await import('./rerun-dialog.tsx')).RerunDialog);

/** Actions on an execution: compare, open in the editor, cancel while it runs, rerun once it has ended. */
export function ExecutionActions({
  detail,
  currentVersion,
  labels,
}: {
  detail: ExecutionDetail;
  currentVersion: number | null;
  /** Node labels. */
  labels: ReadonlyMap<string, string>;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  const { id, status } = detail.execution;
  return (
    <>
      <Button
        component={Link}
        to={`/o/${org}/executions/compare?a=${id}`}
        variant="default"
        leftSection={<Columns2 size={14} aria-hidden />}
      >
        {t('executions.action.compare')}
      </Button>
      {can('editor') && currentVersion !== null && <OpenInEditor detail={detail} labels={labels} />}
      {can('editor') && isUnderWay(status) && <Cancel id={id} />}
      {can('editor') && !isUnderWay(status) && <Rerun detail={detail} currentVersion={currentVersion} />}
    </>
  );
}

function Cancel({ id }: { id: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const client = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const params = { org, execution: id };
  const cancel = useChange(() => call('POST /orgs/:org/executions/:execution/cancel', { params }), {
    done: t('executions.action.cancelled'),
    onSettled: () => {
      setIsAsking(false);
      return client.invalidateQueries({ queryKey: ['GET /orgs/:org/executions/:execution', params] });
    },
  });
  return (
    <>
      <Button
        color="red"
        variant="light"
        leftSection={<Ban size={14} aria-hidden />}
        onClick={() => setIsAsking(true)}
      >
        {t('executions.action.cancel')}
      </Button>
      {isAsking && (
        <ConfirmLater
          title={t('executions.action.cancelTitle')}
          action={t('executions.action.cancelNow')}
          dismiss={t('common.close')}
          isBusy={cancel.isPending}
          onConfirm={() => cancel.mutate()}
          onClose={() => setIsAsking(false)}
        >
          {t('executions.action.cancelText')}
        </ConfirmLater>
      )}
    </>
  );
}

function Rerun({ detail, currentVersion }: { detail: ExecutionDetail; currentVersion: number | null }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const { id, status, workflow_version: version } = detail.execution;
  const [isEditing, setIsEditing] = useState(false);
  const goTo = (executionId: number) => {
    notifyDone(t('executions.action.started', { id: executionId }));
    void navigate({ to: `/o/${org}/executions/${executionId}` as never });
  };
  const rerun = useChange(
    (from: 'start' | 'failed_node') =>
      call('POST /orgs/:org/executions/:execution/rerun', { params: { org, execution: id }, body: { from } }),
    { onSuccess: ({ execution_id: executionId }) => goTo(executionId) },
  );
  const startHint =
    version < 0
      ? t('executions.action.fromStartTrial')
      : t('executions.action.fromStartHint', { version: currentVersion ?? '' });
  return (
    <>
      <Menu position="bottom-end" width={300}>
        <Menu.Target>
          <Button
            loading={rerun.isPending}
            leftSection={<RotateCw size={14} aria-hidden />}
            rightSection={<ChevronDown size={14} aria-hidden />}
          >
            {t('executions.action.rerun')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<RotateCw size={14} aria-hidden />} onClick={() => rerun.mutate('start')}>
            {t('executions.action.fromStart')}
            <Hint>{startHint}</Hint>
          </Menu.Item>
          {status === 'failed' && (
            <Menu.Item
              leftSection={<StepForward size={14} aria-hidden />}
              onClick={() => rerun.mutate('failed_node')}
            >
              {t('executions.action.fromFailed')}
              <Hint>{t('executions.action.fromFailedHint')}</Hint>
            </Menu.Item>
          )}
          <Menu.Item leftSection={<FileInput size={14} aria-hidden />} onClick={() => setIsEditing(true)}>
            {t('executions.action.withInput')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isEditing && <RerunDialog detail={detail} onStarted={goTo} onClose={() => setIsEditing(false)} />}
    </>
  );
}
