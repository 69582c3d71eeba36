import { Button, SegmentedControl, Select, Skeleton, Stack } from '@mantine/core';
import { TableAsJson } from '@millrace/editor/fields/rows-target.tsx';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { useEditorState } from '@millrace/editor-model/store.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { Code, JsonText } from '@millrace/ui/components/code.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { FieldError, Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { knownValueOf, type RunSource, readInput } from './run-choice.ts';

const InputForm = lazyPart(
  async () => (await import('./input-form.tsx')).InputForm,
  () => <Skeleton h={120} />,
);

/** Chooses where the run starts, in a workflow with several triggers. */
export function RunTriggerChoice() {
  const { t } = useTranslation();
  const { runForm } = useEditorPage();
  const { nodes, nodeTypes } = useEditorState('nodes', 'nodeTypes');
  const triggers = nodes.filter(({ type }) => nodeTypes.get(type)?.kind === 'trigger');
  if (triggers.length < 2) return null;
  const chosen = triggers.find(({ id }) => id === runForm.trigger);
  // As the service chooses.
  const first = triggers.find(({ type }) => type === 'trigger.manual') ?? triggers[0];
  return (
    <Select
      label={t('forms.startAt')}
      value={(chosen ?? first)?.id ?? null}
      data={triggers.map((node) => ({ value: node.id, label: titleOf(node, nodeTypes) }))}
      allowDeselect={false}
      onChange={(id) => {
        if (id !== null) runForm.setTrigger(id);
      }}
    />
  );
}

/** Chooses the input: a form generated from the input schema, JSON, the last sample, or a past execution's. */
export function RunInputChoice() {
  const { t, i18n } = useTranslation();
  const { runForm } = useEditorPage();
  const { known, source, input: value, text, choose, write } = runForm;
  if (known === null) return <Skeleton h={120} />;
  const { schema, sample, executions: past } = known;
  const chosenPast = source === 'past' ? knownValueOf(value, known) : undefined;
  const shownText = text ?? JSON.stringify(value.kind === 'value' ? value.value : {}, null, 2);
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={t('trying.inputFrom')}
        value={source}
        onChange={(next) => choose(next as RunSource)}
        data={[
          ...(schema !== null ? [{ value: 'form', label: t('trying.form') }] : []),
          { value: 'json', label: 'JSON' },
          { value: 'sample', label: t('trying.sample'), disabled: sample === null },
          { value: 'past', label: t('trying.past'), disabled: past.length === 0 },
        ]}
      />
      {source === 'form' && schema !== null && (
        <InputForm
          schema={schema}
          value={value.kind === 'value' && isJsonObject(value.value) ? value.value : {}}
          onChange={(next: JsonObject) => write({ kind: 'value', value: next })}
        />
      )}
      {source === 'json' && (
        <>
          <TableAsJson>
            <Code
              value={shownText}
              language="json"
              label={t('trying.input')}
              minHeight={100}
              maxHeight={220}
              onChange={(next) => write(readInput(next), next)}
            />
          </TableAsJson>
          {value.kind === 'invalid' && <FieldError>{t('trying.noJson')}</FieldError>}
          {value.kind === 'value' && <KeepAsSample data={value.value} />}
        </>
      )}
      {source === 'sample' && sample !== null && (
        <>
          <Hint>
            {t('trying.sampleFrom', {
              time: new Date(sample.received_at).toLocaleString(i18n.language),
            })}
          </Hint>
          <JsonText value={sample.data} label={t('trying.sample')} />
        </>
      )}
      {source === 'past' && (
        <>
          <Select
            label={t('trying.past')}
            placeholder={t('trying.choosePast')}
            value={value.kind === 'of' ? String(value.executionId) : null}
            data={past.map((each) => ({
              value: String(each.execution_id),
              label: `${each.display_name} · ${new Date(each.created_at).toLocaleString(i18n.language)}`,
            }))}
            onChange={(id) => {
              if (id !== null) write({ kind: 'of', executionId: Number(id) });
            }}
          />
          {chosenPast !== undefined && <JsonText value={chosenPast} label={t('trying.input')} />}
        </>
      )}
    </Stack>
  );
}

/** Saves the input as the sample, used for completing and previewing templates. */
function KeepAsSample({ data }: { data: JsonValue }) {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  const params = { org, id: workflow.id };
  const keep = useChange(() => call('PUT /orgs/:org/workflows/:id/sample', { params, body: { data } }), {
    done: t('trying.sampleKept'),
    refreshes: ['GET /orgs/:org/workflows/:id/inputs'],
  });
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      w="fit-content"
      loading={keep.isPending}
      onClick={() => keep.mutate()}
    >
      {t('trying.keepAsSample')}
    </Button>
  );
}
