import '@millrace/ui/i18n/parts/credentials.ts';
import { Alert, Button, Code, Group, Loader, Modal, Stack, Text, TextInput } from '@mantine/core';
import type { Credential, CredentialTest } from '@millrace/admin-api';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { useIsOnTop } from '@millrace/ui/components/use-is-on-top.ts';
import { isKnownType } from '@millrace/ui/i18n/credential-types.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleHelp, CircleX, type LucideIcon } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { testHint, testText, wantsPage } from './credential-text.ts';

/** Tests a credential as a node would use it; at once if the test needs no input. */
export function TestDialog({
  item,
  closesItself = false,
  onChange,
  onClose,
}: {
  readonly item: Credential;
  /** Closes unless the test fails, and says how it ended. */
  readonly closesItself?: boolean;
  /** Opens the credential's form. */
  readonly onChange: () => void;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation();
  const isOnTop = useIsOnTop();
  const needsPage = wantsPage(item);
  const [url, setUrl] = useState(() => firstPage(item.hosts));
  const test = useTest(item);
  const run = () => test.mutate(needsPage ? { url: url.trim() } : {});
  const runAtOnce = useEffectEvent(run);
  useEffect(() => {
    if (!needsPage) runAtOnce();
  }, [needsPage]);
  const outcome = test.data?.outcome;
  const end = useEffectEvent((as: CredentialTest['outcome']) => {
    notifyDone(
      t('credentials.test.ended', { name: item.name, outcome: t(`credentials.test.outcome.${as}`) }),
    );
    onClose();
  });
  useEffect(() => {
    if (closesItself && outcome !== undefined && outcome !== 'failed') end(outcome);
  }, [closesItself, outcome]);
  const submit = () => {
    if (!test.isPending) run();
  };
  const problem = urlProblem(test.error);
  return (
    <Modal
      opened
      closeOnEscape={isOnTop}
      onClose={onClose}
      title={t('credentials.test.title', { name: item.name })}
    >
      <Form onSubmit={submit}>
        <Stack gap="sm">
          {isKnownType(item.type) && (
            <Text size="sm" c="dimmed">
              {t(`credentials.test.about.${item.type}`)}
            </Text>
          )}
          {needsPage && (
            <TextInput
              data-autofocus
              label={t('credentials.test.url')}
              description={t('credentials.test.urlHint', { hosts: item.hosts.join(', ') })}
              placeholder="https://api.example.com/me"
              value={url}
              onChange={(event) => setUrl(event.currentTarget.value)}
              error={problem?.message}
              autoComplete="off"
              required
            />
          )}
          <div aria-live="polite">
            {test.isPending && (
              <Group gap="xs">
                <Loader size="xs" />
                <Text size="sm">{t('credentials.test.running')}</Text>
              </Group>
            )}
            {test.isSuccess && <Result test={test.data} />}
          </div>
          <Group justify="flex-end" gap="xs">
            {test.data?.outcome === 'failed' && (
              <Button variant="default" onClick={onChange}>
                {t('credentials.test.change')}
              </Button>
            )}
            <Button variant="default" onClick={onClose}>
              {t('common.close')}
            </Button>
            <Button type="submit" disabled={test.isPending || (needsPage && url.trim() === '')}>
              {test.isIdle || (test.isPending && needsPage)
                ? t('credentials.test.action')
                : t('credentials.test.again')}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  );
}

/** The error of the URL, shown at its field; all others are shown in an alert. */
function urlProblem(error: Error | null) {
  return error instanceof ApiProblem ? error.errors.find(({ pointer }) => pointer === '/url') : undefined;
}

function useTest({ id }: Credential) {
  const org = useOrg();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: { readonly url?: string }) =>
      call('POST /orgs/:org/credentials/:credential/test', { params: { org, credential: id }, body }),
    // The test is recorded in the audit log.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/audit'] }),
    onError: (error) => {
      if (urlProblem(error) === undefined) notifyFailure(error);
    },
  });
}

const OUTCOME_STYLES: {
  readonly [Outcome in CredentialTest['outcome']]: { readonly color: string; readonly icon: LucideIcon };
} = {
  works: { color: 'green', icon: CircleCheck },
  unsure: { color: 'yellow', icon: CircleHelp },
  failed: { color: 'red', icon: CircleX },
};

/** The result, its origin, and how to fix it. */
function Result({
  test: { outcome, code, where, status, refusal, duration_ms: ms },
}: {
  readonly test: CredentialTest;
}) {
  const { t } = useTranslation();
  const { color, icon: Icon } = OUTCOME_STYLES[outcome];
  const text = testText(code);
  const hint = outcome === 'failed' ? testHint(code) : null;
  return (
    <Alert
      color={color}
      variant="light"
      icon={<Icon size={16} aria-hidden />}
      title={t(`credentials.test.outcome.${outcome}`)}
    >
      <Stack gap={6}>
        {text !== null && <Text size="sm">{t(text)}</Text>}
        {refusal !== null && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {translateMessage(refusal)}
          </Text>
        )}
        {hint !== null && <Text size="sm">{t(hint)}</Text>}
        {where !== null && (
          <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
            <Code fz="xs">{where}</Code> {status !== null && `· ${t('credentials.test.status', { status })} `}
            · {formatDuration(ms)}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

/** A suggested URL on the first concrete host; empty for wildcard domains. */
function firstPage(hosts: readonly string[]): string {
  const host = hosts.find((each) => !each.includes('*'));
  return host === undefined ? '' : `https://${host}/`;
}
