import '@millrace/ui/i18n/parts/credentials.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Alert, Select, Skeleton, TagsInput, Text, TextInput } from '@mantine/core';
import type { Credential, CredentialTypeItem, OauthPreset } from '@millrace/admin-api';
import { FormContext, PLAIN_FORM } from '@millrace/editor/form/form-context.tsx';
import type { CredentialStart } from '@millrace/editor-model/credential-start.ts';
import type { JsonObject } from '@millrace/engine';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { notifyUnlessOfFields, useChange } from '@millrace/ui/components/use-change.ts';
import { isKnownType, titleOfType } from '@millrace/ui/i18n/credential-types.ts';
import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConnectDialog } from './connect-dialog.tsx';
import { RedirectAddress } from './connection-state.tsx';
import { CredentialFields, initialFields, isSecret, propertiesOf } from './credential-fields.tsx';
import { wantsPage } from './credential-text.ts';
import { TestDialog } from './test-dialog.tsx';

interface DialogProps {
  /** Null: a new one. */
  credential: Credential | null;
  /** Types allowed for a new one; absent: all. */
  onlyTypes?: readonly string[];
  /** What the form of a new one is filled with. */
  start?: CredentialStart;
  /** Created for a node: closes itself after a test that didn't fail. */
  isBrief?: boolean;
  /** Called after each save. */
  onKept?: (credential: Credential) => void;
  onClose: () => void;
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

interface FormProps extends DialogProps {
  /** @param isOther whether more than the name was changed */
  onSaved: (credential: Credential, isOther: boolean) => void;
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

interface CredentialFormProps extends FormProps {
  types: readonly CredentialTypeItem[];
  presets: readonly OauthPreset[];
  redirectUri: string;
}

function CredentialForm({
  credential,
  onlyTypes,
  types,
  presets,
  redirectUri,
  start,
  onSaved,
  onClose,
}: CredentialFormProps) {
  const { t } = useTranslation();
  const isOnly = types.length === 1;
  // Of two, or of those of a known service, the first is the usual one; among others, whoever adds it chooses.
  const hasUsual = types.length === 2 || start?.name !== undefined;
  const usual = hasUsual ? types.find((each) => each.type === onlyTypes?.[0]) : undefined;
  const preset = isOnly ? types[0] : usual;
  const [type, setType] = useState(credential?.type ?? preset?.type ?? null);
  const [given, setName] = useState(credential?.name ?? null);
  const [hosts, setHosts] = useState<string[]>([...(credential?.hosts ?? start?.hosts ?? [])]);
  const definition = types.find((each) => each.type === type);
  const titleOf = ({ type: value, title }: CredentialTypeItem) => titleOfType(value, t, title);
  const [fields, setFields] = useState<JsonObject>(
    () => credential?.settings ?? (preset === undefined ? {} : startingFields(preset, start, presets)),
  );
  const named = preset === undefined ? undefined : definition;
  const name =
    given ?? (named === undefined ? '' : (start?.name ?? labelIn(named, fields) ?? titleOf(named)));
  const save = useSave(credential, onSaved);
  const problems = save.error instanceof ApiProblem ? save.error.errors : [];
  const problemAt = (pointer: string) => problems.find((each) => each.pointer === pointer)?.message;
  const hostProblem = problems.find((each) => each.pointer.startsWith('/hosts'))?.message;
  const presetOf = ({ service }: JsonObject) => presets.find(({ id }) => id === service);
  const change = (next: JsonObject) => {
    const chosen = type === 'oauth2' && next.service !== fields.service ? presetOf(next) : undefined;
    setFields(chosen === undefined ? next : withPreset(next, chosen));
    if (chosen !== undefined) setHosts(chosen.hosts);
  };
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
      {credential === null && !isOnly && (
        <Select
          {...(preset === undefined ? { 'data-autofocus': true } : {})}
          label={t('credentials.type')}
          placeholder={t('credentials.typeHint')}
          data={types.map((each) => ({ value: each.type, label: titleOf(each) }))}
          value={type}
          onChange={(next) => {
            const chosen = types.find((each) => each.type === next);
            setType(next);
            setFields(chosen === undefined ? {} : startingFields(chosen, start, presets));
            save.reset();
          }}
          description={type !== null && isKnownType(type) ? t(`credentials.types.${type}.about`) : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          required
        />
      )}
      <TextInput
        label={t('credentials.name')}
        description={t('credentials.nameHint')}
        placeholder={t('credentials.nameExample')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={problemAt('/name')}
        maxLength={255}
        autoComplete="off"
        required
      />
      {definition !== undefined && (
        <FormContext value={{ ...PLAIN_FORM, problems }}>
          {definition.is_bound && (
            <TagsInput
              label={t('credentials.hosts')}
              description={t('credentials.hostsHint')}
              value={hosts}
              onChange={setHosts}
              error={hostProblem}
              acceptValueOnBlur
              splitChars={[',', ' ']}
              required
            />
          )}
          {definition.is_bound && hosts.includes('*') && (
            <Text size="xs" c="var(--mantine-color-orange-light-color)">
              {t('credentials.anyHostWarning')}
            </Text>
          )}
          <CredentialFields
            definition={definition}
            value={fields}
            onChange={change}
            credential={credential}
            hosts={hosts}
            service={start?.name}
            takesFocus={preset !== undefined}
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

/** The fields of a new credential: a type's defaults, and what is known of its service. */
function startingFields(
  definition: CredentialTypeItem,
  start: CredentialStart | undefined,
  presets: readonly OauthPreset[],
): JsonObject {
  const { service, ...given } = start?.fields[definition.type] ?? {};
  const fields = initialFields(definition);
  if (definition.type !== 'oauth2') return { ...fields, ...given, ...(service ? { service } : {}) };
  // A connector of the organisation's own may name one that isn't known here.
  const preset = presets.find(({ id }) => id === service);
  if (preset === undefined) return { ...fields, ...given };
  return { ...withPreset({ ...fields, service: preset.id }, preset), ...given };
}

/** The fields as a service needs them; what it doesn't need is left out. */
function withPreset(fields: JsonObject, preset: OauthPreset): JsonObject {
  const known = Object.entries(preset.fields as JsonObject);
  const kept = Object.entries(fields).filter(([name]) => !Object.hasOwn(preset.fields, name));
  return Object.fromEntries([...kept, ...known.filter(([, value]) => value !== null)]);
}

/** The label of the first choice in a type's fields, such as the name of the service. */
function labelIn(definition: CredentialTypeItem, fields: JsonObject): string | null {
  for (const [name, schema] of Object.entries(propertiesOf(definition))) {
    const value = fields[name];
    const label = typeof value === 'string' ? ((schema['x-labels'] ?? {}) as JsonObject)[value] : null;
    if (typeof label === 'string') return label;
  }
  return null;
}

interface Given {
  readonly name: string;
  readonly type: string;
  readonly hosts: string[];
  readonly fields: JsonObject;
}

function useSave(credential: Credential | null, onSaved: FormProps['onSaved']) {
  const { t } = useTranslation();
  const org = useOrg();
  return useChange(
    ({ name, type, hosts, fields }: Given) =>
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

function changesMore(before: Credential, given: Given): boolean {
  const { hosts, fields } = changedParts(before, given);
  return hosts !== undefined || Object.keys(fields).length > 0;
}

/** Only changed parts, so that two people changing different things don't overwrite each other. */
function changedParts(
  before: Credential,
  after: Omit<Given, 'type'>,
): { name?: string; hosts?: string[]; fields: JsonObject } {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const fields = Object.fromEntries(
    Object.entries(after.fields).filter(([name, value]) => !isSame(before.settings[name], value)),
  );
  // A cleared setting is missing from the form's value; the service expects null.
  const cleared = Object.keys(before.settings).filter(
    (name) => before.settings[name] !== null && !Object.hasOwn(after.fields, name),
  );
  return {
    ...(before.name === after.name ? {} : { name: after.name }),
    ...(isSame(before.hosts, after.hosts) ? {} : { hosts: after.hosts }),
    fields: { ...fields, ...Object.fromEntries(cleared.map((name) => [name, null])) },
  };
}
