import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ExecutionStatus } from '../common/status.tsx';

/** The other one is chosen among those that have to do with it, or by its id. */
export function PickOther({ a }: { a: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const [id, setId] = useState<number | string>('');
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/executions/:execution', { params: { org, execution: a } }),
  );
  const workflow = data?.execution.workflow_id;
  const recent = useQuery({
    ...endpointQuery('GET /orgs/:org/executions', {
      params: { org },
      query: { workflow: workflow ?? 1, limit: 10 },
    }),
    enabled: workflow !== undefined,
  });
  const choose = (b: number) => void navigate({ to: '.', search: { a, b }, replace: true });
  const submit = () => {
    if (Number(id) >= 1) choose(Number(id));
  };
  const others = (recent.data?.items ?? []).filter((item) => item.id !== a);
  return (
    <Stack gap="sm">
      <Form onSubmit={submit}>
        <Group align="flex-end" gap="xs">
          <NumberInput
            label={t('executions.compare.pick', { id: a })}
            aria-label={t('executions.compare.pickLabel')}
            hideControls
            min={1}
            allowDecimal={false}
            value={id}
            onChange={setId}
            prefix="#"
          />
          <Button type="submit" disabled={Number(id) < 1}>
            {t('executions.compare.go')}
          </Button>
        </Group>
      </Form>
      {others.length > 0 && (
        <Stack gap={6}>
          <Text size="sm" fw={600}>
            {t('executions.compare.suggestions')}
          </Text>
          {others.map((item) => (
            <Group key={item.id} gap="xs">
              <Button variant="default" onClick={() => choose(item.id)}>
                #{item.id}
              </Button>
              <ExecutionStatus status={item.status} />
              <Muted component="span">
                <Moment at={item.created_at} />
              </Muted>
              {item.rerun_of === a && <Hint>{t('executions.rerunOf', { id: a })}</Hint>}
            </Group>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
