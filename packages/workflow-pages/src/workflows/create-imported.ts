import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import type { CheckedWorkflow } from './import-sources.ts';
import type { NewWorkflow } from './read-import.ts';

/** A workflow with the name that it gets. */
interface Wanted extends Pick<CheckedWorkflow, 'key'> {
  readonly body: NewWorkflow;
}

/** Creates one workflow and opens it, or several and stays; those that are refused are kept, with the reason. */
export function useCreateImported(onDone: () => void) {
  const { t } = useTranslation();
  const org = useOrg();
  const one = useCreateWorkflow();
  const [created, setCreated] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const several = useChange(
    async (wanted: readonly Wanted[]) => {
      const reasons = new Map<string, string>();
      const done: string[] = [];
      // One after the other: none of them is urgent.
      for (const { key, body } of wanted) {
        try {
          await call('POST /orgs/:org/workflows', { params: { org }, body });
          done.push(key);
        } catch (error) {
          reasons.set(key, error instanceof ApiProblem ? error.message : t('common.errorUnreachable'));
        }
        setCreated((old) => new Set([...old, ...done]));
      }
      return { done, reasons };
    },
    {
      done: ({ done }) => t('workflows.importedCount', { count: done.length }),
      refreshes: ['GET /orgs/:org/workflows', 'GET /orgs/:org/first-steps'],
      onSuccess: ({ reasons }) => {
        setRefused(reasons);
        if (reasons.size === 0) onDone();
      },
    },
  );
  return {
    create: (wanted: readonly Wanted[]) => {
      const [only, ...others] = wanted;
      if (only !== undefined && others.length === 0 && created.size === 0) one.mutate(only.body);
      else several.mutate(wanted);
    },
    isBusy: one.isPending || several.isPending,
    created,
    refused,
  };
}
