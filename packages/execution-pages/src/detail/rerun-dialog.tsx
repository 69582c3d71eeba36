import '@millrace/ui/i18n/parts/executions.ts';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import { type JsonValue, tryParseJson } from '@millrace/engine';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Code } from '@millrace/ui/components/code.tsx';
import { findJsonPlace } from '@millrace/ui/components/json-place.ts';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Reruns an execution with an editable input, which the service validates against the workflow's input schema. */
export function RerunDialog({
  detail,
  onStarted,
  onClose,
}: {
  detail: ExecutionDetail;
  onStarted: (executionId: number) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const first = JSON.stringify(detail.input_data, null, 2);
  const [text, setText] = useState(first);
  const input = tryParseJson(text);
  const start = useMutation({
    mutationFn: (input: JsonValue) =>
      call('POST /orgs/:org/executions/:execution/rerun', {
        params: { org, execution: detail.execution.id },
        body: { from: 'start', input_data: input },
      }),
    onSuccess: ({ execution_id: executionId }) => {
      onClose();
      onStarted(executionId);
    },
  });
  return (
    <Modal opened onClose={onClose} title={t('executions.input.title')} size="lg">
      <Stack gap="sm">
        <Muted>{t('executions.input.hint', { braces: '{{trigger.data}}' })}</Muted>
        <Code
          label={t('executions.input.label')}
          language="json"
          value={text}
          onChange={setText}
          minHeight={220}
        />
        {input === undefined && (
          <Text
            size="sm"
            c="light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))"
            role="status"
          >
            {t('executions.input.invalid', { ...findJsonPlace(text) })}
          </Text>
        )}
        {start.isError && <Refusal error={start.error} />}
        <Group justify="space-between">
          <Button variant="subtle" color="gray" disabled={text === first} onClick={() => setText(first)}>
            {t('executions.input.reset')}
          </Button>
          <Group gap="xs" ml="auto">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button
              disabled={input === undefined}
              loading={start.isPending}
              onClick={() => input !== undefined && start.mutate(input)}
            >
              {t('executions.input.start')}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Modal>
  );
}

function Refusal({ error }: { error: Error }) {
  const { t } = useTranslation();
  const isProblem = error instanceof ApiProblem;
  return (
    <Alert color="red" variant="light" role="alert">
      <Text size="sm">{isProblem ? error.message : t('common.errorUnreachable')}</Text>
      {isProblem && error.errors.length > 0 && (
        <Stack component="ul" gap={2} m={0} mt={4} pl="md">
          {error.errors.map(({ pointer, field, message }) => (
            <Text size="sm" component="li" key={pointer}>
              <strong>{field}</strong> {message}
            </Text>
          ))}
        </Stack>
      )}
    </Alert>
  );
}
