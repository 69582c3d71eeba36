import { Button, Group, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import type { DoctorFinding } from '@millrace/admin-api';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX, Info, type LucideIcon, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const LEVELS = ['error', 'warning', 'info'] as const;
const STYLES: {
  readonly [Level in DoctorFinding['level']]: { readonly icon: LucideIcon; readonly color: string };
} = {
  error: { icon: CircleX, color: 'var(--mantine-color-red-text)' },
  warning: { icon: TriangleAlert, color: 'var(--mantine-color-orange-text)' },
  info: { icon: Info, color: 'var(--mantine-color-blue-text)' },
};

/** What is wrong with the installation, and how to fix it. */
export function Diagnosis() {
  const { t } = useTranslation();
  const diagnosis = useQuery({
    ...endpointQuery('GET /system/diagnosis'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const findings = LEVELS.flatMap((level) =>
    (diagnosis.data?.findings ?? []).filter((finding) => finding.level === level),
  );
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2}>{t('system.diagnosis')}</Title>
        <Button
          size="xs"
          variant="default"
          loading={diagnosis.isFetching}
          onClick={() => void diagnosis.refetch()}
        >
          {t('system.checkAgain')}
        </Button>
      </Group>
      {diagnosis.isPending && <LoadingRows />}
      {diagnosis.isError && diagnosis.data === undefined && (
        <ErrorState error={diagnosis.error} onRetry={diagnosis.refetch} />
      )}
      {diagnosis.isSuccess && findings.length === 0 && (
        <Group gap="xs">
          <CircleCheck size={16} color="var(--mantine-color-green-text)" aria-hidden />
          <Text size="sm">{t('system.noFindings')}</Text>
        </Group>
      )}
      <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {findings.map((finding) => (
          <FindingItem key={`${finding.check} ${finding.what.message}`} finding={finding} />
        ))}
      </Stack>
    </Stack>
  );
}

function FindingItem({ finding: { level, what, why, fix } }: { finding: DoctorFinding }) {
  const { t } = useTranslation();
  const { icon: Icon, color } = STYLES[level];
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start">
      <Icon size={16} color={color} aria-hidden style={{ flexShrink: 0, marginTop: 2 }} />
      <Stack gap={2} style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm" fw={600}>
          <VisuallyHidden>{t(`system.level.${level}`)}: </VisuallyHidden>
          {translateMessage(what)}
        </Text>
        <Hint>{translateMessage(why)}</Hint>
        <Text size="sm">{translateMessage(fix)}</Text>
      </Stack>
    </Group>
  );
}
