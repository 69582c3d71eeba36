import { Select, Skeleton, Switch, Text } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { tryParseJson } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Code } from '@millrace/ui/components/code.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** A past execution whose input was chosen. */
interface PastInput {
  readonly id: number;
  /** Its input as shown; null: too large to show. */
  readonly text: string | null;
}

/** Starts the saved workflow manually, with a new input or a past one. */
export function RunDialog({ workflow, onClose }: { workflow: WorkflowItem; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const params = { org, id: workflow.id };
  const inputs = useQuery(endpointQuery('GET /orgs/:org/workflows/:id/inputs', { params }));
  const [typed, setTyped] = useState<string | null>(null);
  const [from, setFrom] = useState<PastInput | null>(null);
  const [isTest, setIsTest] = useState(workflow.is_test_mode);
  const sample = inputs.data?.sample?.data;
  const text = typed ?? JSON.stringify(sample ?? {}, null, 2);
  const input = tryParseJson(text);

  const run = useChange(
    () =>
      call('POST /orgs/:org/workflows/:id/run', {
        params,
        body: {
          // Use the original, which may contain numbers beyond double precision.
          ...(from !== null && (from.text === null || from.text === typed)
            ? { input_of: from.id }
            : { input: input ?? {} }),
          is_test_mode: isTest,
        },
      }),
    {
      onSuccess: async ({ execution_id: execution }) => {
        onClose();
        await navigate({ to: `/o/${org}/executions/${execution}` });
      },
    },
  );
  const past = inputs.data?.executions ?? [];
  const isLarge = from?.text === null;
  return (
    <FormDialog
      title={t('workflows.runTitle', { name: workflow.name })}
      action={t('workflows.runAction')}
      size="lg"
      isBusy={run.isPending}
      isReady={input !== undefined || isLarge}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      {past.length > 0 && (
        <Select
          label={t('workflows.inputFrom')}
          placeholder={t('workflows.inputFromHint')}
          data={past.map((each) => ({
            value: String(each.execution_id),
            label: `${each.display_name} · ${new Date(each.created_at).toLocaleString(i18n.language)}`,
          }))}
          onChange={(id) => {
            const chosen = past.find((each) => String(each.execution_id) === id);
            if (chosen === undefined) return;
            const shown = chosen.input === undefined ? null : JSON.stringify(chosen.input, null, 2);
            setFrom({ id: chosen.execution_id, text: shown });
            if (shown !== null) setTyped(shown);
          }}
        />
      )}
      <div>
        <Text size="xs" fw={600} mb={4}>
          {t('workflows.input')}
        </Text>
        {inputs.isPending ? (
          <Skeleton height={120} />
        ) : isLarge ? (
          <Muted>{t('workflows.inputIsLarge')}</Muted>
        ) : (
          <Code value={text} onChange={setTyped} language="json" label={t('workflows.input')} />
        )}
        {input === undefined && !isLarge && (
          <Text size="xs" c="red" role="alert" mt={4}>
            {t('workflows.inputIsNoJson')}
          </Text>
        )}
      </div>
      <Switch
        checked={isTest}
        onChange={(event) => setIsTest(event.currentTarget.checked)}
        label={t('workflows.testMode')}
        description={t('workflows.testModeHint')}
      />
    </FormDialog>
  );
}
