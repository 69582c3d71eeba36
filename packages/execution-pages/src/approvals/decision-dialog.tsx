import '@millrace/ui/i18n/parts/approvals.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Text, Textarea } from '@mantine/core';
import type { Approval } from '@millrace/admin-api';
import { type JsonObject, joinPointer } from '@millrace/engine';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AnswerFields, fieldsWith, presetsOf } from './answer-fields.tsx';
import { QuestionText } from './decision.tsx';

function isOfField({ pointer }: ApiProblem['errors'][number]): boolean {
  return pointer.startsWith('/values/');
}

/** Decides, with what else is asked for and an optional comment. Whatever the outcome, the approval is refetched. */
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
  const fields = fieldsWith(choice.id, item);
  const [answers, setAnswers] = useState(() => presetsOf(fields));
  const decide = useChange(
    () =>
      call('POST /orgs/:org/approvals/:approval/decision', {
        params: { org, approval: item.id },
        body: {
          choice: choice.id,
          comment,
          ...(fields.length === 0 ? {} : { values: answers as JsonObject }),
        },
      }),
    {
      done: t('approvals.done', { choice: choice.label }),
      onError: (error) => {
        if (!(error instanceof ApiProblem) || !error.errors.some(isOfField)) notifyFailure(error);
      },
      onSettled: async (_done, error) => {
        // What isn't filled in as it must be can be mended here.
        if (error instanceof ApiProblem && error.errors.some(isOfField)) return;
        onClose();
        await client.invalidateQueries({ queryKey: ['GET /orgs/:org/approvals'] });
        await client.invalidateQueries({ queryKey: ['GET /orgs/:org/executions/:execution'] });
      },
    },
  );
  const errors = decide.error instanceof ApiProblem ? decide.error.errors : [];
  const faults = new Map(
    fields.flatMap(({ name }): [string, string][] => {
      const error = errors.find(({ pointer }) => pointer === joinPointer('/values', name));
      return error === undefined ? [] : [[name, error.message]];
    }),
  );
  return (
    <FormDialog
      title={t('approvals.decide', { choice: choice.label })}
      action={choice.label}
      isBusy={decide.isPending}
      onSubmit={() => decide.mutate()}
      onClose={onClose}
    >
      <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
        {item.title}
      </Text>
      <QuestionText text={item.message} />
      <AnswerFields fields={fields} answers={answers} faults={faults} onChange={setAnswers} />
      <Textarea
        {...(fields.length === 0 ? { 'data-autofocus': true } : {})}
        label={t('approvals.comment')}
        description={t('approvals.commentHint')}
        autosize
        minRows={3}
        maxRows={10}
        maxLength={5_000}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
      <Hint>{t('approvals.first')}</Hint>
    </FormDialog>
  );
}
