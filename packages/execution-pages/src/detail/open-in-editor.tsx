import { Button } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { ConfirmLater } from '@millrace/ui/components/confirm-later.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useNavigate } from '@tanstack/react-router';
import { SquarePen } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Opens the workflow with this execution's input and outputs, the latter as pins; asks before it replaces others. */
export function OpenInEditor({
  detail,
  labels,
}: {
  detail: ExecutionDetail;
  labels: ReadonlyMap<string, string>;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const { id, workflow_id: workflowId } = detail.execution;
  const [replaced, setReplaced] = useState<readonly string[] | null>(null);
  const params = { org, execution: id };
  const pin = useChange(() => call('PUT /orgs/:org/executions/:execution/pins', { params }), {
    onSuccess: () =>
      navigate({ to: `/o/${org}/workflows/${workflowId}` as never, search: { execution: id } as never }),
    onSettled: () => setReplaced(null),
  });
  const look = useChange(() => call('GET /orgs/:org/executions/:execution/debug', { params }), {
    onSuccess: ({ replaces }) => (replaces.length === 0 ? pin.mutate() : setReplaced(replaces)),
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<SquarePen size={14} aria-hidden />}
        loading={look.isPending || pin.isPending}
        onClick={() => look.mutate()}
      >
        {t('executions.action.openInEditor')}
      </Button>
      {replaced !== null && (
        <ConfirmLater
          title={t('executions.action.replaceTitle')}
          action={t('executions.action.replace')}
          isBusy={pin.isPending}
          onConfirm={() => pin.mutate()}
          onClose={() => setReplaced(null)}
        >
          {t('executions.action.replaceText')}{' '}
          {replaced.map((nodeId) => labels.get(nodeId) ?? nodeId).join(t('common.listSeparator'))}
        </ConfirmLater>
      )}
    </>
  );
}
