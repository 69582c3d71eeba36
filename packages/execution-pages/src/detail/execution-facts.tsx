import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { ExecutionDetail, ExecutionOrigin } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration, Moment } from '@millrace/ui/components/time.tsx';
import { useNow } from '@millrace/ui/components/use-now.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { TriggerName } from '../common/status.tsx';
import { isUnderWay } from '../common/under-way.ts';

/** Maximum number of child executions listed; the rest are counted. */
const MAX_NAMED = 12;
/** Shorter queue times aren't shown. */
const SHORT_WAIT_MS = 1_000;

/** When it ran, which version, who started it, and related executions. */
export function ExecutionFacts({
  detail,
  currentVersion,
}: {
  detail: ExecutionDetail;
  currentVersion: number | null;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { execution, children, reruns } = detail;
  const now = useNow(isUnderWay(execution.status));
  const { created_at: accepted, started_at: started, completed_at: ended, parent } = execution;
  const waitedMs = started === null ? 0 : Date.parse(started) - Date.parse(accepted);
  const lastsMs = started === null ? null : (ended === null ? now : Date.parse(ended)) - Date.parse(started);
  const version = execution.workflow_version;
  const isOld = version > 0 && currentVersion !== null && currentVersion !== version;
  return (
    <dl className={classes.facts}>
      <Fact name={t('executions.detail.workflow')}>
        <Anchor
          component={Link}
          to={`/o/${org}/workflows/${execution.workflow_id}${version > 0 ? `?version=${version}` : ''}`}
          size="sm"
        >
          {execution.workflow_name ?? `#${execution.workflow_id}`}
        </Anchor>
        <Hint>
          {version > 0 ? t('executions.version', { version }) : t('executions.trial')}
          {isOld && ` · ${t('executions.detail.oldVersion', { version, current: currentVersion })}`}
        </Hint>
      </Fact>
      <Fact name={t('executions.detail.startedBy')}>
        <TriggerName type={execution.trigger_type} />
        {detail.origin !== null && <Origin origin={detail.origin} />}
      </Fact>
      <Fact name={t('executions.detail.started')}>
        <Moment at={started ?? accepted} />
        {waitedMs >= SHORT_WAIT_MS && (
          <Hint>{t('executions.detail.queuedFor', { time: formatDuration(waitedMs) })}</Hint>
        )}
      </Fact>
      {execution.hold !== undefined && (
        <Fact name={t('executions.detail.hold')}>
          <HoldReason hold={execution.hold} now={now} />
        </Fact>
      )}
      {execution.cancellation !== undefined && (
        <Fact name={t('executions.detail.cancellation')}>
          <Text size="sm">{translateMessage(execution.cancellation)}</Text>
          {execution.cancellation.execution_id !== null && (
            <ExecutionLink id={execution.cancellation.execution_id} />
          )}
        </Fact>
      )}
      <Fact name={t('executions.detail.duration')}>
        <span className={classes.number}>
          {lastsMs === null ? '–' : formatDuration(Math.max(0, lastsMs))}
        </span>
      </Fact>
      <Fact name={t('executions.detail.tokens')}>
        <span className={classes.number}>{execution.consumed_ai_tokens.toLocaleString()}</span>
      </Fact>
      {Object.keys(detail.search_keys).length > 0 && (
        <Fact name={t('executions.detail.searchKeys')}>
          <SearchKeys keys={detail.search_keys} />
        </Fact>
      )}
      {parent !== null && (
        <Fact name={t('executions.detail.parent')}>
          <ExecutionLink id={parent.execution_id} node={parent.node_id}>
            {t('executions.detail.parentOf', { id: parent.execution_id, node: parent.node_id })}
          </ExecutionLink>
        </Fact>
      )}
      {execution.rerun_of !== null && (
        <Fact name={t('executions.detail.repeats')}>
          <ExecutionLink id={execution.rerun_of} />
        </Fact>
      )}
      {reruns.length > 0 && (
        <Fact name={t('executions.detail.repeatedBy')}>
          <Several items={reruns} />
        </Fact>
      )}
      {children.length > 0 && (
        <Fact name={t('executions.detail.children')}>
          <Several items={children} />
        </Fact>
      )}
    </dl>
  );
}

/** What keeps it in the queue, and until when; a time that has passed isn't shown. */
function HoldReason({ hold, now }: { hold: NonNullable<ExecutionDetail['execution']['hold']>; now: number }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0}>
      <Text size="sm">{t(`executions.detail.heldBy.${hold.reason}`)}</Text>
      {Date.parse(hold.until) > now && (
        <Hint>
          {t('executions.detail.heldUntil')} <Moment at={hold.until} />
        </Hint>
      )}
    </Stack>
  );
}

/** Each links to the executions with the same value. */
function SearchKeys({ keys }: { keys: ExecutionDetail['search_keys'] }) {
  const org = useOrg();
  return (
    <Stack gap={0}>
      {Object.entries(keys).map(([name, value]) => (
        <Text key={name} size="sm" truncate title={value}>
          {name}:{' '}
          <Anchor
            component={Link}
            to={`/o/${org}/executions`}
            search={{ in: 'keys', text: value } as never}
            size="sm"
          >
            {value}
          </Anchor>
        </Text>
      ))}
    </Stack>
  );
}

/** The API key and IP address; both link to the other executions they started. */
function Origin({ origin }: { origin: ExecutionOrigin }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { api_key: key, source_ip: ip } = origin;
  return (
    <Stack gap={0}>
      {key !== null && (
        <Anchor
          component={Link}
          to={`/o/${org}/executions`}
          search={{ key: key.id } as never}
          size="xs"
          title={`mr_${key.key_id}`}
        >
          {t('executions.key', { name: key.name, end: key.last_four })}
        </Anchor>
      )}
      {ip !== null && (
        <Anchor component={Link} to={`/o/${org}/executions`} search={{ ip } as never} size="xs">
          {t('executions.detail.from', { ip })}
        </Anchor>
      )}
    </Stack>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Several({
  items,
}: {
  items: readonly {
    readonly execution_id: number;
    readonly status: ExecutionDetail['execution']['status'];
  }[];
}) {
  const { t } = useTranslation();
  return (
    <Group gap={6}>
      {items.slice(0, MAX_NAMED).map(({ execution_id: id, status }) => (
        <span key={id}>
          <ExecutionLink id={id} />{' '}
          <Text
            span
            size="xs"
            c={
              status === 'failed'
                ? 'light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))'
                : 'dimmed'
            }
          >
            {t(`executions.status.${status}`)}
          </Text>
        </span>
      ))}
      {items.length > MAX_NAMED && (
        <Hint>{t('executions.detail.moreChildren', { count: items.length - MAX_NAMED })}</Hint>
      )}
    </Group>
  );
}

/** A link to an execution, optionally to one of its nodes. */
export function ExecutionLink({ id, node, children }: { id: number; node?: string; children?: ReactNode }) {
  const org = useOrg();
  return (
    <Anchor
      component={Link}
      to={`/o/${org}/executions/${id}`}
      size="sm"
      {...(node === undefined ? {} : { search: { node } as never })}
    >
      {children ?? `#${id}`}
    </Anchor>
  );
}
