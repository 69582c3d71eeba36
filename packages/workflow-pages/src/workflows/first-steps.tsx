import '@millrace/ui/i18n/parts/help.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Button, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { FirstStep } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, Minus, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';

const PLACES: { readonly [Step in Exclude<FirstStep, 'run'>]: string } = {
  template: 'templates',
  key: 'keys',
  invite: 'members',
};
/** The template of the sample workflow. */
const SAMPLE = 'greeting';

/**
 * What somebody new does first, ticked off by what has really happened.
 * @param isAsked shown even if everything is done
 */
export function FirstSteps({ isAsked }: { isAsked: boolean }) {
  const { t } = useTranslation();
  const params = { org: useOrg() };
  const { data } = useQuery(endpointQuery('GET /orgs/:org/first-steps', { params }));
  const dismiss = useChange(() => call('PUT /me/first-steps', { body: { shown: false } }), {
    done: () => t('help.firstSteps.dismissed'),
    refreshes: ['GET /me'],
  });
  if (data === undefined) return null;
  const done = data.items.filter((item) => item.is_done).length;
  const count = data.items.length;
  if (done === count && !isAsked) return null;
  return (
    <Paper withBorder p="md" component="section" aria-label={t('help.firstSteps.title')}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="sm" align="baseline">
          <Title order={2}>{t('help.firstSteps.title')}</Title>
          <Hint>{t('help.firstSteps.progress', { done, count })}</Hint>
        </Group>
        <IconButton
          icon={X}
          label={t('help.firstSteps.dismiss')}
          loading={dismiss.isPending}
          onClick={() => dismiss.mutate(undefined)}
        />
      </Group>
      {done === count && <Text size="sm">{t('help.firstSteps.allDone')}</Text>}
      <Stack component="ul" gap="sm" mt="sm" p={0} m={0} style={{ listStyle: 'none' }}>
        {data.items.map(({ step, is_done: isDone }) => (
          <Step key={step} step={step} isDone={isDone} sampleId={data.sample_workflow_id} />
        ))}
      </Stack>
    </Paper>
  );
}

function Step({ step, isDone, sampleId }: { step: FirstStep; isDone: boolean; sampleId: number | null }) {
  const { t } = useTranslation();
  const Icon = isDone ? Check : Minus;
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start" className="first-step">
      <ThemeIcon variant="light" radius="xl" size={24} color={isDone ? 'green' : 'gray'}>
        <Icon
          size={14}
          aria-label={isDone ? t('help.firstSteps.done') : t('help.firstSteps.open')}
          role="img"
        />
      </ThemeIcon>
      <Group flex={1} gap="xs" justify="space-between">
        <Stack gap={0} flex="1 1 240px">
          <Text size="sm" fw={500} td={isDone ? 'line-through' : undefined}>
            {t(`help.firstSteps.step.${step}.title`)}
          </Text>
          {!isDone && <Hint>{t(`help.firstSteps.step.${step}.hint`)}</Hint>}
        </Stack>
        {!isDone && <StepAction step={step} sampleId={sampleId} />}
      </Group>
    </Group>
  );
}

function StepAction({ step, sampleId }: { step: FirstStep; sampleId: number | null }) {
  const { t } = useTranslation();
  const org = useOrg();
  const create = useCreateWorkflow();
  if (step === 'run' && sampleId === null) {
    return (
      <Button
        variant="default"
        loading={create.isPending}
        onClick={() => create.mutate({ template: { id: SAMPLE } })}
      >
        {t('help.firstSteps.step.run.create')}
      </Button>
    );
  }
  const place = step === 'run' ? `workflows/${sampleId}` : PLACES[step];
  return (
    <Button variant="default" component={Link} to={`/o/${org}/${place}`}>
      {t(`help.firstSteps.step.${step}.action`)}
    </Button>
  );
}
