import { Button, SegmentedControl, Select, Skeleton, Stack, Text } from '@mantine/core';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@millrace/engine';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import { endpointKey, endpointQuery } from '../../../api/query.ts';
import { useEditor } from '../../../canvas/store.ts';
import { Code, JsonText } from '../../../ui/code.tsx';
import { lazyPart } from '../../../ui/lazy-part.tsx';
import { notifyDone, notifyFailure } from '../../../ui/notify.ts';
import { useEditorPage } from '../editor-context.ts';

const InputForm = lazyPart(async () => (await import('./input-form.tsx')).InputForm);

/** What a run begins with: the value, or the execution whose input is taken. */
export type RunInput =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'of'; readonly executionId: number }
  | { readonly kind: 'invalid' };

type Source = 'form' | 'json' | 'sample' | 'past';

/** Chooses the input: a form made from the input schema, JSON, the last sample, or a past execution's. */
export function RunInputChoice({
  value,
  onChange,
}: {
  readonly value: RunInput;
  readonly onChange: (input: RunInput) => void;
}) {
  const { t, i18n } = useTranslation();
  const { org, workflow } = useEditorPage();
  const schema = useEditor((state) => state.settings.input_schema);
  const inputs = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/inputs', { params: { org, id: workflow.id } }),
  );
  const sample = inputs.data?.sample ?? null;
  const past = inputs.data?.executions ?? [];
  const hasForm = schema !== undefined && isJsonObject(schema) && isJsonObject(schema.properties ?? null);
  const [chosen, setChosen] = useState<Source | null>(null);
  const [text, setText] = useState<string | null>(null);
  const first = hasForm ? 'form' : sample === null ? 'json' : 'sample';
  // The input may have lost its schema since.
  const source = chosen === null || (chosen === 'form' && !hasForm) ? first : chosen;
  const isSample = source === 'sample';
  const take = useEffectEvent(onChange);
  // What is shown is what it runs with, from the first moment, and when another sample comes.
  useEffect(() => {
    if (isSample && sample !== null) take({ kind: 'value', value: sample.data });
  }, [isSample, sample]);
  const chosenPast =
    value.kind === 'of' ? past.find((each) => each.execution_id === value.executionId) : undefined;
  const choose = (next: Source) => {
    setChosen(next);
    // What another source had is where one goes on from.
    const present = value.kind === 'value' ? value.value : chosenPast?.input;
    if (next === 'json') {
      const start = present === undefined ? (text ?? '{}') : JSON.stringify(present, null, 2);
      setText(start);
      onChange(readInput(start));
    }
    // What is shown is what it runs with, here as well.
    if (next === 'form') {
      onChange({ kind: 'value', value: present !== undefined && isJsonObject(present) ? present : {} });
    }
    const [last] = past;
    if (next === 'past' && value.kind !== 'of' && last !== undefined) {
      onChange({ kind: 'of', executionId: last.execution_id });
    }
  };
  if (inputs.isPending) return <Skeleton h={120} />;
  const shownText = text ?? JSON.stringify(value.kind === 'value' ? value.value : {}, null, 2);
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={t('editor.trying.inputFrom')}
        value={source}
        onChange={(next) => choose(next as Source)}
        data={[
          ...(hasForm ? [{ value: 'form', label: t('editor.trying.form') }] : []),
          { value: 'json', label: 'JSON' },
          { value: 'sample', label: t('editor.trying.sample'), disabled: sample === null },
          { value: 'past', label: t('editor.trying.past'), disabled: past.length === 0 },
        ]}
      />
      {source === 'form' && hasForm && (
        <Suspense fallback={<Skeleton h={120} />}>
          <InputForm
            schema={schema}
            value={value.kind === 'value' && isJsonObject(value.value) ? value.value : {}}
            onChange={(next: JsonObject) => onChange({ kind: 'value', value: next })}
          />
        </Suspense>
      )}
      {source === 'json' && (
        <>
          <Code
            value={shownText}
            language="json"
            label={t('editor.trying.input')}
            minHeight={100}
            maxHeight={220}
            onChange={(next) => {
              setText(next);
              onChange(readInput(next));
            }}
          />
          {value.kind === 'invalid' && (
            <Text size="xs" c="var(--mantine-color-error)" role="alert">
              {t('editor.trying.noJson')}
            </Text>
          )}
          {value.kind === 'value' && <KeepAsSample data={value.value} />}
        </>
      )}
      {isSample && sample !== null && (
        <>
          <Text size="xs" c="dimmed">
            {t('editor.trying.sampleFrom', {
              time: new Date(sample.received_at).toLocaleString(i18n.language),
            })}
          </Text>
          <JsonText value={sample.data} label={t('editor.trying.sample')} />
        </>
      )}
      {source === 'past' && (
        <>
          <Select
            label={t('editor.trying.past')}
            placeholder={t('editor.trying.choosePast')}
            value={value.kind === 'of' ? String(value.executionId) : null}
            data={past.map((each) => ({
              value: String(each.execution_id),
              label: `${each.display_name} · ${new Date(each.created_at).toLocaleString(i18n.language)}`,
            }))}
            onChange={(id) => {
              if (id !== null) onChange({ kind: 'of', executionId: Number(id) });
            }}
          />
          {chosenPast?.input !== undefined && (
            <JsonText value={chosenPast.input} label={t('editor.trying.input')} />
          )}
        </>
      )}
    </Stack>
  );
}

/** Makes what is written the sample, which templates are completed and previewed with. */
function KeepAsSample({ data }: { readonly data: JsonValue }) {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  const queryClient = useQueryClient();
  const params = { org, id: workflow.id };
  const keep = useMutation({
    mutationFn: () => call('PUT /orgs/:org/workflows/:id/sample', { params, body: { data } }),
    onSuccess: async () => {
      notifyDone(t('editor.trying.sampleKept'));
      await queryClient.invalidateQueries({
        queryKey: endpointKey('GET /orgs/:org/workflows/:id/inputs', { params }),
      });
    },
    onError: notifyFailure,
  });
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      w="fit-content"
      loading={keep.isPending}
      onClick={() => keep.mutate()}
    >
      {t('editor.trying.keepAsSample')}
    </Button>
  );
}

export function readInput(text: string): RunInput {
  try {
    return { kind: 'value', value: text.trim() === '' ? {} : parseJson(text) };
  } catch {
    return { kind: 'invalid' };
  }
}
