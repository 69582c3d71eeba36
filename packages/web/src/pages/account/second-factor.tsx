import { Badge, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { ResponseBody } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { CopyIcon } from '@millrace/ui/components/copy.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeField, PasswordField } from './fields.tsx';
import { FormProblem, useFieldError } from './problems.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** The second factor: its state and actions. */
export function SecondFactor({ isOn }: { isOn: boolean }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<'set up' | 'off' | 'codes' | null>(null);
  const close = () => setOpen(null);
  return (
    <Stack gap="xs" align="flex-start">
      <Badge
        color={isOn ? 'teal' : 'gray'}
        leftSection={isOn ? <ShieldCheck size={12} aria-hidden /> : <ShieldOff size={12} aria-hidden />}
      >
        {isOn ? t('account.secondFactorOn') : t('account.secondFactorOff')}
      </Badge>
      <Group gap="xs">
        {isOn ? (
          <>
            <Button variant="default" onClick={() => setOpen('codes')}>
              {t('account.newCodes')}
            </Button>
            <Button variant="default" onClick={() => setOpen('off')}>
              {t('account.switchOff')}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setOpen('set up')}>
            {t('account.setUpFactor')}
          </Button>
        )}
      </Group>
      {open === 'set up' && <SecondFactorSetup onClose={close} />}
      {open === 'off' && <SwitchOff onClose={close} />}
      {open === 'codes' && <NewCodes onClose={close} />}
    </Stack>
  );
}

/** Asks for the password before a change to the second factor, and for a code if there already is one. */
function Proof<Result>({
  title,
  text,
  action,
  hasFactor = false,
  send,
  onDone,
  onClose,
}: {
  title: string;
  text: string;
  action: string;
  hasFactor?: boolean;
  send: (proof: { readonly password: string; readonly code: string }) => Promise<Result>;
  onDone: (result: Result) => unknown;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const change = useMutation({ mutationFn: () => send({ password, code }), onSuccess: onDone });
  const errorOf = useFieldError(change.error);
  return (
    <FormDialog
      title={title}
      action={action}
      isBusy={change.isPending}
      isReady={password !== '' && (code !== '' || !hasFactor)}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      <FormProblem error={change.error} />
      <PasswordField data-autofocus value={password} onChange={setPassword} error={errorOf('password')} />
      {hasFactor && (
        <CodeField
          description={t('account.codeHint')}
          value={code}
          onChange={setCode}
          error={errorOf('code')}
        />
      )}
    </FormDialog>
  );
}

function SwitchOff({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  return (
    <Proof
      title={t('account.switchOff')}
      text={t('account.switchOffText')}
      action={t('account.switchOff')}
      hasFactor
      send={(body) => call('POST /me/second-factor/off', { body })}
      onDone={async () => {
        onClose();
        notifyDone(t('account.switchedOff'));
        await queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
      }}
      onClose={onClose}
    />
  );
}

function NewCodes({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (codes !== null) return <RecoveryCodes codes={codes} onClose={onClose} />;
  return (
    <Proof
      title={t('account.newCodes')}
      text={t('account.newCodesText')}
      action={t('account.makeCodes')}
      hasFactor
      send={(body) => call('POST /me/second-factor/recovery-codes', { body })}
      onDone={({ recovery_codes: made }) => setCodes(made)}
      onClose={onClose}
    />
  );
}

const QR_SIZE = 188;
const QrCode = lazyPart(
  async () => (await import('./qr-code.tsx')).default,
  () => <Skeleton width={QR_SIZE} height={QR_SIZE} />,
);

type Enrolment = ResponseBody<'POST /me/second-factor'>;

/** Sets up a second factor: password, app and first code, recovery codes. */
function SecondFactorSetup({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (codes !== null) {
    // Deferred to the end: the page re-renders with it and would unmount this dialog.
    const finish = async () => {
      onClose();
      await queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
    };
    return <RecoveryCodes codes={codes} onClose={finish} />;
  }
  if (enrolment === null) {
    return (
      <Proof
        title={t('account.secondFactor')}
        text={t('account.askPassword')}
        action={t('account.goOn')}
        send={({ password }) => call('POST /me/second-factor', { body: { password } })}
        onDone={setEnrolment}
        onClose={onClose}
      />
    );
  }
  return <ScanAndConfirm enrolment={enrolment} onDone={setCodes} onClose={onClose} />;
}

function ScanAndConfirm({
  enrolment: { secret, uri },
  onDone,
  onClose,
}: {
  enrolment: Enrolment;
  onDone: (codes: readonly string[]) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => call('POST /me/second-factor/confirm', { body: { code } }),
    onSuccess: ({ recovery_codes: codes }) => onDone(codes),
  });
  const errorOf = useFieldError(confirm.error);
  return (
    <FormDialog
      title={t('account.secondFactor')}
      action={t('account.switchOn')}
      isBusy={confirm.isPending}
      isReady={code !== ''}
      onSubmit={() => confirm.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t('account.scan')}</Text>
      <Group justify="center">
        <QrCode text={uri} label={t('account.qrCode')} />
      </Group>
      <Stack gap={2}>
        <Hint>{t('account.typeSecret')}</Hint>
        <Group gap={4} wrap="nowrap">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</Code>
          <CopyIcon text={secret} label={t('account.copySecret')} />
        </Group>
      </Stack>
      <FormProblem error={confirm.error} />
      <CodeField
        data-autofocus
        label={t('account.firstCode')}
        inputMode="numeric"
        value={code}
        onChange={setCode}
        error={errorOf('code')}
      />
    </FormDialog>
  );
}
