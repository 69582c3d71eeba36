import { Alert, Code, Group, Input, List, Stack, Text } from '@mantine/core';
import type { Credential } from '@millrace/admin-api';
import { CopyIcon } from '@millrace/ui/components/copy.tsx';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { CircleCheck, TriangleAlert, Unplug } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { ConnectionResult } from './connection-search.ts';

/** What is wrong with a credential's connection; nothing if it works, or needs none. */
export function ConnectionBadge({ item: { connection } }: { item: Credential }) {
  const { t } = useTranslation();
  if (connection === null || connection.state === 'connected') return null;
  const { state } = connection;
  return (
    <IconBadge icon={Unplug} color="orange" hint={t(`credentials.connection.hint.${state}`)} tabIndex={0}>
      {t(`credentials.connection.state.${state}`)}
    </IconBadge>
  );
}

/** The result of connecting a credential, and what has to be connected again. */
export function ConnectionNotices({
  items,
  result,
}: {
  items: readonly Credential[];
  result: ConnectionResult | undefined;
}) {
  const { t } = useTranslation();
  const ended = items.filter(({ connection }) => connection?.state === 'ended');
  return (
    <Stack gap="xs" mb={ended.length > 0 || result !== undefined ? 'md' : 0}>
      {result !== undefined && <ConnectionOutcome result={result} />}
      {ended.length > 0 && (
        <Alert variant="light" color="orange" icon={<Unplug size={16} aria-hidden />} py="xs">
          <Text size="sm">{t('credentials.connection.notice')}</Text>
          <List size="sm">
            {ended.map(({ id, name }) => (
              <List.Item key={id}>{name}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}

/** @param role `status` where it appears while somebody waits for it */
export function ConnectionOutcome({
  result,
  role = 'alert',
}: {
  result: ConnectionResult;
  role?: 'alert' | 'status';
}) {
  const { t } = useTranslation();
  const isDone = result === 'connected';
  return (
    <Alert
      role={role}
      variant="light"
      color={isDone ? 'green' : 'red'}
      icon={isDone ? <CircleCheck size={16} aria-hidden /> : <TriangleAlert size={16} aria-hidden />}
      py="xs"
    >
      {t(`credentials.connection.result.${result}`)}
    </Alert>
  );
}

/** What has to be registered with the service. */
export function RedirectAddress({ uri }: { uri: string }) {
  const { t } = useTranslation();
  return (
    <Input.Wrapper
      label={t('credentials.connection.redirect')}
      description={t('credentials.connection.redirectHint')}
      labelElement="div"
    >
      <Group gap="xs" wrap="nowrap" mt={4}>
        <Code style={{ overflowWrap: 'anywhere' }}>{uri}</Code>
        <CopyIcon text={uri} label={t('credentials.connection.redirect')} />
      </Group>
    </Input.Wrapper>
  );
}
