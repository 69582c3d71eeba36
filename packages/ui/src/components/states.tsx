import { Button, Center, Code, Group, Skeleton, Stack, ThemeIcon, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { LucideIcon } from 'lucide-react';
import { CircleAlert, FileQuestion, Lock, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiProblem } from '../api/client.ts';
import { Hint, Muted } from './text.tsx';

/** An empty list: what belongs here, and the first step. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="xs" maw={440}>
        <ThemeIcon variant="light" size={40} radius="xl" color="gray" aria-hidden>
          <Icon size={20} />
        </ThemeIcon>
        <Title order={2} ta="center">
          {title}
        </Title>
        {children !== undefined && (
          <Muted ta="center" component="div">
            {children}
          </Muted>
        )}
        {action}
      </Stack>
    </Center>
  );
}

/** A failed load: what happened, the request id, and a retry button where that can help. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const { t } = useTranslation();
  const isProblem = error instanceof ApiProblem;
  if (isProblem && error.code === 'insufficient_role') {
    return (
      <EmptyState icon={Lock} title={t('common.noPermission')}>
        {error.message}
      </EmptyState>
    );
  }
  return (
    <Center py={48} px="md" role="alert">
      <Stack align="center" gap="xs" maw={440}>
        <ThemeIcon variant="light" size={40} radius="xl" color="red" aria-hidden>
          <CircleAlert size={20} />
        </ThemeIcon>
        <Title order={2}>{t('common.errorTitle')}</Title>
        <Muted ta="center">{isProblem ? error.message : t('common.errorUnreachable')}</Muted>
        {isProblem && error.requestId !== null && (
          <Hint ff="monospace">{t('common.requestId', { id: error.requestId })}</Hint>
        )}
        {onRetry !== undefined && (
          <Button variant="default" leftSection={<RotateCw size={14} />} onClick={onRetry}>
            {t('common.retry')}
          </Button>
        )}
      </Stack>
    </Center>
  );
}

/** Placeholder rows. */
export function LoadingRows({ rows = 8 }: { rows?: number }) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" py="sm" role="status" aria-label={t('common.loading')}>
      {Array.from({ length: rows }, (_, index) => `row ${index}`).map((key) => (
        <Skeleton key={key} height={28} radius="sm" />
      ))}
    </Stack>
  );
}

/** Shown for unknown addresses. */
export function MissingPage() {
  const { t } = useTranslation();
  useDocumentTitle(`${t('common.notFoundTitle')} · Millrace`);
  return (
    <EmptyState
      icon={FileQuestion}
      title={t('common.notFoundTitle')}
      action={
        <Button component="a" href="/" variant="default">
          {t('common.toStart')}
        </Button>
      }
    >
      {t('common.notFoundText')}
    </EmptyState>
  );
}

/** Shown when a page throws; saved work is unaffected. */
export function CrashedPage({ error }: { error: unknown }) {
  const { t } = useTranslation();
  if (error instanceof ApiProblem && error.status === 404) return <MissingPage />;
  if (error instanceof ApiProblem || error instanceof TypeError) {
    return <ErrorState error={error} onRetry={() => window.location.reload()} />;
  }
  return (
    <Center py={48} px="md" role="alert">
      <Stack align="center" gap="xs" maw={560}>
        <Title order={2}>{t('common.crashTitle')}</Title>
        <Muted ta="center">{t('common.crashText')}</Muted>
        <Code block>{String(error)}</Code>
        <Group>
          <Button variant="default" onClick={() => window.location.reload()}>
            {t('common.reload')}
          </Button>
        </Group>
      </Stack>
    </Center>
  );
}
