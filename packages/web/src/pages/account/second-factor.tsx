import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { call } from '@millrace/ui/api/client.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeField, PasswordField } from './fields.tsx';
import { FormProblem, useFieldError } from './problems.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

/** The second factor: whether it is on, and what can be done about it. */
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

/** Asks who wants to change the second factor for password and code. */
function Proof<Result>({
  title,
  text,
  action,
  send,
  onDone,
  onClose,
}: {
  title: string;
  text: string;
  action: string;
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
      isReady={password !== '' && code !== ''}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      <FormProblem error={change.error} />
      <PasswordField data-autofocus value={password} onChange={setPassword} error={errorOf('password')} />
      <CodeField
        description={t('account.codeHint')}
        value={code}
        onChange={setCode}
        error={errorOf('code')}
      />
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
      send={(body) => call('POST /me/second-factor/recovery-codes', { body })}
      onDone={({ recovery_codes: made }) => setCodes(made)}
      onClose={onClose}
    />
  );
}
