import { Group, NumberInput, Radio, Stack, Text } from '@mantine/core';
import type { KnownType } from '@millrace/editor-model/editor-state.ts';
import { useEditor } from '@millrace/editor-model/store.ts';
import type { FlowNode, FlowNodeData, OnError } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useTranslation } from 'react-i18next';
import { amountSection } from '../fields/amount-section.tsx';
import { formatAmount } from '../fields/format-amount.ts';
import { useForm, useProblem } from '../form/form-context.tsx';
import { NodeForm } from './node-form.tsx';

interface NodeSettingsProps {
  node: FlowNode;
  type: KnownType | undefined;
}

/** What happens when a node fails or times out. */
export function NodeSettings(props: NodeSettingsProps) {
  return (
    <NodeForm nodeId={props.node.id} base="/data" takesTemplates={false}>
      <Behaviour {...props} />
    </NodeForm>
  );
}

function Behaviour({ node, type }: NodeSettingsProps) {
  const { t, i18n } = useTranslation();
  const { isReadOnly } = useForm();
  const amountOf = (ms: number | null | undefined) =>
    amountSection(ms == null ? null : formatAmount('_ms', ms, i18n.language));
  const changeNode = useEditor((state) => state.changeNode);
  const { retry, on_error: onError, timeout_ms: timeoutMs } = node.data ?? {};
  const set = (field: keyof FlowNodeData, value: unknown) =>
    changeNode(node.id, field, (old) => ({ ...old, data: withMember(old.data ?? {}, field, value) }));
  const setRetry = (field: string, value: string | number) => {
    const next = { ...retry, [field]: typeof value === 'number' ? value : undefined };
    const kept = Object.fromEntries(Object.entries(next).filter(([, each]) => each !== undefined));
    set('retry', Object.keys(kept).length === 0 ? undefined : kept);
  };
  const defaults = type?.default_retry;
  return (
    <Stack gap="md">
      <Radio.Group
        size="xs"
        label={t('setting.ofNode.onError')}
        value={onError ?? 'fail'}
        onChange={(value) => set('on_error', value === 'fail' ? undefined : (value as OnError))}
        readOnly={isReadOnly}
        error={useProblem('/on_error')}
      >
        <Stack gap={6} pt={4}>
          {(['fail', 'continue', 'branch'] as const).map((value) => (
            <Radio
              key={value}
              size="xs"
              value={value}
              disabled={isReadOnly}
              label={t(`forms.onErrorChoice.${value}`)}
              description={t(`forms.onErrorAbout.${value}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      <div>
        <Text size="xs" fw={600}>
          {t('setting.ofNode.retry')}
        </Text>
        <Group grow gap="xs" align="flex-start">
          <NumberInput
            label={t('forms.maxAttempts')}
            min={1}
            max={100}
            value={retry?.max_attempts ?? ''}
            placeholder={String(defaults?.max_attempts ?? 1)}
            onChange={(value) => setRetry('max_attempts', value)}
            disabled={isReadOnly}
            error={useProblem('/retry/max_attempts')}
          />
          <NumberInput
            label={t('forms.backoff')}
            min={0}
            suffix=" ms"
            value={retry?.backoff_ms ?? ''}
            placeholder={`${defaults?.backoff_ms ?? 1000} ms`}
            onChange={(value) => setRetry('backoff_ms', value)}
            disabled={isReadOnly}
            error={useProblem('/retry/backoff_ms')}
          />
          <NumberInput
            label={t('forms.maxBackoff')}
            min={0}
            suffix=" ms"
            value={retry?.max_backoff_ms ?? ''}
            placeholder={`${defaults?.max_backoff_ms ?? 60_000} ms`}
            onChange={(value) => setRetry('max_backoff_ms', value)}
            disabled={isReadOnly}
            error={useProblem('/retry/max_backoff_ms')}
          />
        </Group>
        <Hint mt={4}>{t('forms.retryAbout')}</Hint>
      </div>
      <NumberInput
        label={t('setting.ofNode.timeout')}
        description={t('forms.timeoutAbout')}
        min={1}
        suffix=" ms"
        value={timeoutMs ?? ''}
        placeholder={type?.default_timeout_ms == null ? t('forms.noLimit') : `${type.default_timeout_ms} ms`}
        onChange={(value) => set('timeout_ms', typeof value === 'number' ? value : undefined)}
        disabled={isReadOnly}
        error={useProblem('/timeout_ms')}
        {...amountOf(timeoutMs ?? type?.default_timeout_ms)}
      />
    </Stack>
  );
}

function withMember(data: FlowNodeData, field: keyof FlowNodeData, value: unknown): FlowNodeData {
  const { [field]: _old, ...others } = data;
  return value === undefined ? others : { ...others, [field]: value };
}
