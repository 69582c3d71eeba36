import { Alert, Group, Text } from '@mantine/core';
import type { AuditChain } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { CopyIcon } from '@millrace/ui/components/copy.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { Clock, ShieldAlert, ShieldCheck } from 'lucide-react';
import { Trans, useTranslation } from 'react-i18next';

/** When the log was last compared with its chain of hashes, and whether it was as recorded. */
export function ChainState() {
  const { data: chain } = useQuery({
    ...endpointQuery('GET /orgs/:org/audit/chain', { params: { org: useOrg() } }),
    staleTime: 0,
  });
  if (chain === undefined) return null;
  return chain.problem === null ? <Sound chain={chain} /> : <Changed chain={chain} />;
}

function Sound({ chain: { verified_at: at, verified_entries: count, head, length } }: { chain: AuditChain }) {
  const { t } = useTranslation();
  return (
    <Group gap={6} wrap="nowrap" role="status">
      {at === null ? (
        <Clock size={16} color="var(--mantine-color-dimmed)" aria-hidden />
      ) : (
        <ShieldCheck size={16} color="var(--mantine-color-green-text)" aria-hidden />
      )}
      <Text size="sm">
        {at === null ? (
          t('audit.chain.unverified')
        ) : (
          <Trans
            i18nKey="audit.chain.verified"
            count={count}
            components={{ moment: <Moment at={at} relative={false} /> }}
          />
        )}
      </Text>
      {head !== null && (
        <Group gap={2} wrap="nowrap" visibleFrom="sm">
          <Hint title={head}>{t('audit.chain.head', { position: length, hash: head.slice(0, 12) })}</Hint>
          <CopyIcon text={head} />
        </Group>
      )}
    </Group>
  );
}

function Changed({ chain: { verified_at: at, problem } }: { chain: AuditChain }) {
  const { t } = useTranslation();
  if (problem === null) return null;
  const { kind, entry_id: id, position, count } = problem;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<ShieldAlert size={16} aria-hidden />}
      title={t('audit.chain.changed')}
      py="xs"
    >
      <Text size="sm">
        {t(`audit.chain.problem.${kind}`, { id: id ?? '', position: position ?? '' })}
        {count > 1 && ` ${t('audit.chain.more', { count: count - 1 })}`} {t('audit.chain.next')}{' '}
        {at !== null && (
          <Trans i18nKey="audit.chain.found" components={{ moment: <Moment at={at} relative={false} /> }} />
        )}
      </Text>
    </Alert>
  );
}
