import type { WorkflowDetail } from '@millrace/admin-api';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { type Flow, isJsonObject } from '@millrace/engine';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { DraftSync } from '../draft/draft-sync.ts';
import {
  chooseSource,
  inputOf,
  type KnownInputs,
  NO_CHOICE,
  pastChoice,
  type RunChoice,
  type RunInput,
  type RunSource,
  sourceOf,
} from './run-choice.ts';
import { inputsQuery, useChosenExecution } from './use-shown-sample.ts';
import type { RunBody, Trial } from './use-trial.ts';

interface NextInput {
  /** Null while the available inputs are loading. */
  readonly known: KnownInputs | null;
  readonly source: RunSource;
  readonly input: RunInput;
}

const NOTHING_KNOWN = { known: null, source: 'json', input: { kind: 'value', value: {} } } as const;

/** The input of the next run, wherever it is started. */
export type RunForm = ReturnType<typeof useRunForm>;

/** Keeps the chosen input while the editor is open. */
export function useRunForm(
  { org, workflow }: { readonly org: number; readonly workflow: WorkflowDetail },
  draftSync: DraftSync,
  trial: Trial,
) {
  const store = useEditorStore();
  const schema = useEditor((state) => state.settings.input_schema);
  const execution = useChosenExecution();
  const inputs = useQuery(inputsQuery(org, workflow.id, execution));
  const [choice, setChoice] = useState<RunChoice>(NO_CHOICE);
  const isPast = inputs.data?.executions.some((each) => each.execution_id === execution) === true;
  useEffect(() => {
    if (execution !== null && isPast) setChoice(pastChoice(execution));
  }, [execution, isPast]);
  const [trigger, setTrigger] = useState('');
  const [isTest, setTest] = useState(workflow.is_test_mode);
  useEffect(() => setTest(workflow.is_test_mode), [workflow.is_test_mode]);
  const hasForm = schema !== undefined && isJsonObject(schema) && isJsonObject(schema.properties ?? null);
  const knownWith = useCallback(
    (read: NonNullable<typeof inputs.data>): KnownInputs => ({ ...read, schema: hasForm ? schema : null }),
    [hasForm, schema],
  );
  // Inputs are compared, which may be large: once, and not each time that something on the page changes.
  const { known, source, input } = useMemo((): NextInput => {
    if (inputs.data === undefined) return NOTHING_KNOWN;
    const read = knownWith(inputs.data);
    return { known: read, source: sourceOf(choice, read), input: inputOf(choice, read) };
  }, [choice, inputs.data, knownWith]);
  /** @param nodes of the flow that runs, which may not have the chosen trigger */
  const toRequest = (input: RunInput, { nodes }: Pick<Flow, 'nodes'> = store.getState()): RunBody => ({
    ...(draftSync.state.getState().status === 'same' ? {} : { flow_data: store.getState().toFlow() }),
    ...(input.kind === 'value' ? { input: input.value } : {}),
    ...(input.kind === 'of' ? { input_of: input.executionId } : {}),
    ...(nodes.some(({ id }) => id === trigger) ? { trigger } : {}),
    is_test_mode: isTest,
  });
  return {
    known,
    source,
    input,
    /** JSON as typed; null: nothing yet. */
    text: choice.text,
    isTest,
    /** The trigger that was chosen for the next run to start at; empty: none, so the service decides. */
    trigger,
    setTrigger,
    choose: (source: RunSource) => known !== null && setChoice(chooseSource(choice, known, source)),
    write: (next: RunInput, text: string | null = choice.text) => setChoice({ source, input: next, text }),
    setTest,
    /** The request for a run with that input: of the current draft if there are changes, else of the saved version. */
    request: () => toRequest(input),
    /** Starts a run, unless one is in progress or the input is invalid. @param part of the flow on the canvas; absent: all of it */
    async start(part?: Flow): Promise<void> {
      if (trial.isBusy) return;
      // Ctrl+Enter may come before the last input has loaded.
      const read = inputs.data ?? (await inputs.refetch()).data;
      if (read === undefined) return notifyFailure(inputs.error ?? new TypeError('not read'));
      const now = knownWith(read);
      const first = inputOf(choice, now);
      if (first.kind === 'invalid') return;
      // Once it has run there is a past execution; keep showing the same input.
      setChoice({ ...choice, source: sourceOf(choice, now), input: first });
      await trial.start({
        ...toRequest(first, part),
        ...(part === undefined ? {} : { flow_data: part as never }),
      });
    },
  };
}
