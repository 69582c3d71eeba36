import '@millrace/ui/i18n/parts/executions.ts';
import { Text, Textarea } from '@mantine/core';
import type { Approval } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Decides, with an optional comment. Whatever the outcome, the approval is refetched. */
export function DecisionDialog({
  item,
  choice,
  onClose,
}: {
  item: Approval;
  choice: Approval['choices'][number];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const client = useQueryClient();
  const [comment, setComment] = useState('');
  const decide = useChange(
    () =>
      call('POST /orgs/:org/approvals/:approval/decision', {
        params: { org, approval: item.id },
        body: { choice: choice.id, comment },
      }),
    {
      done: t('executions.approvals.done', { choice: choice.label }),
      onSettled: async () => {
        onClose();
        await client.invalidateQueries({ queryKey: ['GET /orgs/:org/approvals'] });
        await client.invalidateQueries({ queryKey: ['GET /orgs/:org/executions/:execution'] });
      },
    },
  );
  return (
    <FormDialog
      title={t('executions.approvals.decide', { choice: choice.label })}
      action={choice.label}
      isBusy={decide.isPending}
      onSubmit={() => decide.mutate()}
      onClose={onClose}
    >
      <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
        {item.title}
      </Text>
      <Textarea
        data-autofocus
        label={t('executions.approvals.comment')}
        description={t('executions.approvals.commentHint')}
        autosize
        minRows={3}
        maxRows={10}
        maxLength={5_000}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
      <Hint>{t('executions.approvals.first')}</Hint>
    </FormDialog>
  );
}
