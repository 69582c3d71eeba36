import type { WorkflowDetail } from '@millrace/admin-api';
import { useEditor, useEditorStore } from '@millrace/editor/model/store.ts';
import { isJsonObject } from '@millrace/engine';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { DraftKeeper } from '../draft/keeper.ts';
import {
  chooseSource,
  inputOf,
  type KnownInputs,
  NO_CHOICE,
  type RunChoice,
  type RunInput,
  type RunSource,
  sourceOf,
} from './run-choice.ts';
import type { RunBody, Trial } from './use-trial.ts';

/** What the next run begins with, wherever it is started from. */
export interface RunForm {
  /** Null while it is not known what there is to choose from. */
  readonly known: KnownInputs | null;
  readonly source: RunSource;
  readonly input: RunInput;
  /** JSON as it was typed; null: nothing yet. */
  readonly text: string | null;
  readonly isTest: boolean;
  readonly choose: (source: RunSource) => void;
  readonly write: (input: RunInput, text?: string) => void;
  readonly setTest: (isTest: boolean) => void;
  /** A run with that input: the draft as it is now when there are changes, else the saved version. */
  readonly request: () => RunBody;
  /** Runs, unless a run is under way or the input is not valid. */
  readonly start: () => Promise<void>;
}

/** Keeps what was chosen for runs as long as the editor is open. */
export function useRunForm(
  { org, workflow }: { readonly org: number; readonly workflow: WorkflowDetail },
  keeper: DraftKeeper,
  trial: Trial,
): RunForm {
  const store = useEditorStore();
  const schema = useEditor((state) => state.settings.input_schema);
  const inputs = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/inputs', { params: { org, id: workflow.id } }),
  );
  const [choice, setChoice] = useState<RunChoice>(NO_CHOICE);
  const [isTest, setTest] = useState(workflow.is_test_mode);
  useEffect(() => setTest(workflow.is_test_mode), [workflow.is_test_mode]);
  const hasForm = schema !== undefined && isJsonObject(schema) && isJsonObject(schema.properties ?? null);
  const knownWith = (read: NonNullable<typeof inputs.data>): KnownInputs => ({
    ...read,
    schema: hasForm ? schema : null,
  });
  const known = inputs.data === undefined ? null : knownWith(inputs.data);
  const toRequest = (input: RunInput): RunBody => ({
    ...(keeper.state.getState().status === 'same' ? {} : { flow_data: store.getState().toFlow() }),
    ...(input.kind === 'value' ? { input: input.value } : {}),
    ...(input.kind === 'of' ? { input_of: input.executionId } : {}),
    is_test_mode: isTest,
  });
  const input: RunInput = known === null ? { kind: 'value', value: {} } : inputOf(choice, known);
  return {
    known,
    source: known === null ? 'json' : sourceOf(choice, known),
    input,
    text: choice.text,
    isTest,
    choose: (source) => known !== null && setChoice(chooseSource(choice, known, source)),
    write: (next, text = choice.text ?? undefined) =>
      setChoice({
        source: known === null ? 'json' : sourceOf(choice, known),
        input: next,
        text: text ?? null,
      }),
    setTest,
    request: () => toRequest(input),
    async start() {
      if (trial.isUnderWay || trial.isStarting) return;
      // Ctrl+Enter may come before the page knows what the last input was.
      const read = inputs.data ?? (await inputs.refetch()).data;
      if (read === undefined) return notifyFailure(inputs.error ?? new TypeError('not read'));
      const now = knownWith(read);
      const first = inputOf(choice, now);
      if (first.kind === 'invalid') return;
      // Once it has run there is a past execution; what is shown stays what it was.
      setChoice({ ...choice, source: sourceOf(choice, now), input: first });
      await trial.start(toRequest(first));
    },
  };
}
