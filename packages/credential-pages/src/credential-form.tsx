import { Alert, Select, TagsInput, Text, TextInput } from '@mantine/core';
import type { Credential, CredentialTypeItem, OauthPreset } from '@millrace/admin-api';
import { FormContext, PLAIN_FORM } from '@millrace/editor/form/form-context.tsx';
import type { CredentialStart } from '@millrace/editor-model/credential-start.ts';
import type { JsonObject } from '@millrace/engine';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { notifyUnlessOfFields, useChange } from '@millrace/ui/components/use-change.ts';
import { isKnownType, titleOfType } from '@millrace/ui/i18n/credential-types.ts';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { RedirectAddress } from './connection-state.tsx';
import { CredentialFields } from './credential-fields.tsx';
import {
  changedParts,
  changesMore,
  type GivenCredential,
  isSecret,
  labelIn,
  propertiesOf,
  startingFields,
  withPreset,
} from './credential-values.ts';

export interface FormProps {
  /** Null: a new one. */
  credential: Credential | null;
  /** Types allowed for a new one; absent: all. */
  onlyTypes?: readonly string[];
  /** What the form of a new one is filled with. */
  start?: CredentialStart;
  /** @param isOther whether more than the name was changed */
  onSaved: (credential: Credential, isOther: boolean) => void;
  onClose: () => void;
}

interface Known {
  /** Those to choose from. */
  types: readonly CredentialTypeItem[];
  presets: readonly OauthPreset[];
}

export function CredentialForm(props: FormProps & Known & { redirectUri: string }) {
  const { credential, start, types, redirectUri, onSaved, onClose } = props;
  const { t } = useTranslation();
  const draft = useDraft(props);
  const { type, definition, name, hosts, fields } = draft;
  const save = useSave(credential, onSaved);
  const problems = save.error instanceof ApiProblem ? save.error.errors : [];
  const submit = () => {
    if (definition === undefined) return;
    const bound = definition.is_bound ? hosts : [];
    save.mutate({ name: name.trim(), type: definition.type, hosts: bound, fields });
  };
  return (
    <FormDialog
      title={
        credential === null ? t('credentials.add') : t('credentials.editTitle', { name: credential.name })
      }
      action={credential === null ? t('credentials.addAction') : t('common.save')}
      isBusy={save.isPending}
      isReady={name.trim() !== '' && definition !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {credential?.needs_secret === true && (
        <Alert color="orange" variant="light" icon={<TriangleAlert size={16} aria-hidden />} py="xs">
          {t('credentials.needsSecretHint')}
        </Alert>
      )}
      {credential === null && types.length !== 1 && (
        <TypeSelect
          types={types}
          value={type}
          onChange={(next) => {
            draft.chooseType(next);
            save.reset();
          }}
          takesFocus={!draft.hasPreset}
        />
      )}
      <TextInput
        label={t('credentials.name')}
        description={t('credentials.nameHint')}
        placeholder={t('credentials.nameExample')}
        value={name}
        onChange={(event) => draft.setName(event.currentTarget.value)}
        error={problems.find(({ pointer }) => pointer === '/name')?.message}
        maxLength={255}
        autoComplete="off"
        required
      />
      {definition !== undefined && (
        <FormContext value={{ ...PLAIN_FORM, problems }}>
          {definition.is_bound && (
            <HostsInput
              value={hosts}
              onChange={draft.setHosts}
              error={problems.find((each) => each.pointer.startsWith('/hosts'))?.message}
            />
          )}
          <CredentialFields
            definition={definition}
            value={fields}
            onChange={draft.changeFields}
            credential={credential}
            hosts={hosts}
            service={start?.name}
            takesFocus={draft.hasPreset}
          />
          {type === 'oauth2' && fields.grant !== 'client_credentials' && (
            <RedirectAddress uri={redirectUri} />
          )}
          {credential !== null && Object.values(propertiesOf(definition)).some(isSecret) && (
            <Hint>{t('credentials.elsewhere')}</Hint>
          )}
        </FormContext>
      )}
    </FormDialog>
  );
}

/** What is entered in the form. A type that is chosen brings its defaults, and a service what is known of it. */
function useDraft({ credential, onlyTypes, start, types, presets }: FormProps & Known) {
  const { t } = useTranslation();
  // Of two, or of those of a known service, the first is the usual one; among others, whoever adds it chooses.
  const hasUsual = types.length === 2 || start?.name !== undefined;
  const usual = hasUsual ? types.find((each) => each.type === onlyTypes?.[0]) : undefined;
  const preset = types.length === 1 ? types[0] : usual;
  const initial = (of: CredentialTypeItem | undefined) =>
    of === undefined ? {} : startingFields(of, start, presets);
  const [type, setType] = useState(credential?.type ?? preset?.type ?? null);
  const [given, setName] = useState(credential?.name ?? null);
  const [hosts, setHosts] = useState<string[]>([...(credential?.hosts ?? start?.hosts ?? [])]);
  const [fields, setFields] = useState<JsonObject>(() => credential?.settings ?? initial(preset));
  const typeOf = (wanted: string | null) => types.find((each) => each.type === wanted);
  const definition = typeOf(type);
  const named = preset === undefined ? undefined : definition;
  const suggested =
    named && (start?.name ?? labelIn(named, fields) ?? titleOfType(named.type, t, named.title));
  return {
    type,
    definition,
    hasPreset: preset !== undefined,
    name: given ?? suggested ?? '',
    hosts,
    fields,
    setName,
    setHosts,
    chooseType: (next: string | null) => {
      setType(next);
      setFields(initial(typeOf(next)));
    },
    changeFields: (next: JsonObject) => {
      const isOther = type === 'oauth2' && next.service !== fields.service;
      const chosen = isOther ? presets.find(({ id }) => id === next.service) : undefined;
      setFields(chosen === undefined ? next : withPreset(next, chosen));
      if (chosen !== undefined) setHosts(chosen.hosts);
    },
  };
}

function TypeSelect({
  types,
  value,
  onChange,
  takesFocus,
}: {
  types: readonly CredentialTypeItem[];
  value: string | null;
  onChange: (type: string | null) => void;
  takesFocus: boolean;
}) {
  const { t } = useTranslation();
  return (
    <Select
      {...(takesFocus ? { 'data-autofocus': true } : {})}
      label={t('credentials.type')}
      placeholder={t('credentials.typeHint')}
      data={types.map(({ type, title }) => ({ value: type, label: titleOfType(type, t, title) }))}
      value={value}
      onChange={onChange}
      description={value !== null && isKnownType(value) ? t(`credentials.types.${value}.about`) : undefined}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      allowDeselect={false}
      required
    />
  );
}

function HostsInput({
  value,
  onChange,
  error,
}: {
  value: string[];
  onChange: (hosts: string[]) => void;
  error: string | undefined;
}) {
  const { t } = useTranslation();
  return (
    <>
      <TagsInput
        label={t('credentials.hosts')}
        description={t('credentials.hostsHint')}
        value={value}
        onChange={onChange}
        error={error}
        acceptValueOnBlur
        splitChars={[',', ' ']}
        required
      />
      {value.includes('*') && (
        <Text size="xs" c="var(--mantine-color-orange-light-color)">
          {t('credentials.anyHostWarning')}
        </Text>
      )}
    </>
  );
}

function useSave(credential: Credential | null, onSaved: FormProps['onSaved']) {
  const { t } = useTranslation();
  const org = useOrg();
  return useChange(
    ({ name, type, hosts, fields }: GivenCredential) =>
      credential === null
        ? call('POST /orgs/:org/credentials', { params: { org }, body: { name, type, hosts, fields } })
        : call('PATCH /orgs/:org/credentials/:credential', {
            params: { org, credential: credential.id },
            body: changedParts(credential, { name, hosts, fields }),
          }),
    {
      done: ({ name }) => t('credentials.saved', { name }),
      refreshes: ['GET /orgs/:org/credentials'],
      onSuccess: (saved, given) => onSaved(saved, credential === null || changesMore(credential, given)),
      onError: notifyUnlessOfFields,
    },
  );
}
