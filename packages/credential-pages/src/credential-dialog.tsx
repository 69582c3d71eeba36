import '@millrace/ui/i18n/parts/credentials.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Skeleton } from '@mantine/core';
import type { Credential } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConnectDialog } from './connect-dialog.tsx';
import { CredentialForm, type FormProps } from './credential-form.tsx';
import { wantsPage } from './credential-text.ts';
import { TestDialog } from './test-dialog.tsx';

interface DialogProps extends Omit<FormProps, 'onSaved'> {
  /** Created for a node: closes itself after a test that didn't fail. */
  isBrief?: boolean;
  /** Called after each save. */
  onKept?: (credential: Credential) => void;
}

/** Adds or changes a credential, and tests it if more than its name changed and the test needs no further input. */
export function CredentialDialog({
  credential,
  onlyTypes,
  start,
  isBrief = false,
  onKept,
  onClose,
}: DialogProps) {
  const [edited, setEdited] = useState(credential);
  const [saved, setSaved] = useState<Credential | null>(null);
  if (saved?.connection?.state === 'missing') return <ConnectDialog item={saved} onClose={onClose} />;
  if (saved !== null) {
    const change = () => {
      setEdited(saved);
      setSaved(null);
    };
    return <TestDialog item={saved} closesItself={isBrief} onChange={change} onClose={onClose} />;
  }
  const onSaved = (item: Credential, isOther: boolean) => {
    onKept?.(item);
    const waits = item.connection?.state === 'missing';
    if (isOther && (waits || !wantsPage(item)) && item.type !== 'secret') setSaved(item);
    else onClose();
  };
  const limits = {
    ...(onlyTypes === undefined ? {} : { onlyTypes }),
    ...(start === undefined ? {} : { start }),
  };
  return <FormOfType credential={edited} {...limits} onSaved={onSaved} onClose={onClose} />;
}

function FormOfType(props: FormProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const types = useQuery({
    ...endpointQuery('GET /orgs/:org/credential-types', { params: { org } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (types.isSuccess) {
    const { onlyTypes } = props;
    const fitting = types.data.items.filter(({ type }) => onlyTypes?.includes(type) ?? true);
    const { oauth_presets: presets, oauth_redirect_uri: redirectUri } = types.data;
    return <CredentialForm {...props} types={fitting} presets={presets} redirectUri={redirectUri} />;
  }
  return (
    <FormDialog
      title={t('credentials.add')}
      action={t('common.save')}
      isReady={false}
      onSubmit={() => undefined}
      onClose={props.onClose}
    >
      {types.isError ? <ErrorState error={types.error} onRetry={types.refetch} /> : <Skeleton height={160} />}
    </FormDialog>
  );
}
