import { PasswordInput, Stack, Switch, Textarea, type TextareaProps } from '@mantine/core';
import type { Credential, CredentialTypeItem } from '@millrace/admin-api';
import { Field } from '@millrace/editor/fields/field.tsx';
import { withMember } from '@millrace/editor/form/field-props.ts';
import { useProblem } from '@millrace/editor/form/form-context.tsx';
import { applies, isNullable, type Schema } from '@millrace/editor-model/field-shape.ts';
import type { JsonObject, JsonValue } from '@millrace/engine';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { choiceText, fieldText } from './credential-text.ts';
import { isSecret, propertiesOf } from './credential-values.ts';
import { FieldGuides } from './field-guides.tsx';
import { guidesByField } from './guides-by-field.ts';

/** The form omits a value instead of setting it to null. */
function withoutNull(schema: Schema): Schema {
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.find((each) => each !== 'null') ?? 'string' } : schema;
}

/** Default ports by server or encryption type. */
const USUAL_PORTS: { readonly [setting: string]: { readonly [value: string]: number } } = {
  dialect: { postgresql: 5432, mysql: 3306, sqlserver: 1433, mongodb: 27_017 },
  security: { starttls: 587, tls: 465 },
};

/** Webhook URLs by which a chat service is recognised. */
const WEBHOOKS: readonly (readonly [service: string, url: RegExp])[] = [
  ['slack', /^https:\/\/hooks\.slack(?:-gov)?\.com\//],
  ['teams', /^https:\/\/[^/]+\.(?:webhook\.office|logic\.azure|powerplatform)\.com[/:]/],
  ['discord', /^https:\/\/(?:\w+\.)?discord(?:app)?\.com\//],
  ['google_chat', /^https:\/\/chat\.googleapis\.com\//],
  // Its servers are anywhere.
  ['mattermost', /^https?:\/\/[^/]+\/hooks\/\w+/],
];

/** Chooses the service that a webhook URL just entered belongs to. */
function withService(changed: string, fields: JsonObject): JsonObject {
  const { webhook_url: url } = fields;
  if (changed !== 'webhook_url' || typeof url !== 'string') return fields;
  const found = WEBHOOKS.find(([, pattern]) => pattern.test(url))?.[0];
  if (found === undefined) return fields;
  // Its own server has no usual address.
  const { base_url: server = URL.parse(url)?.origin } = fields;
  return {
    ...fields,
    service: found,
    ...(found === 'mattermost' && server !== undefined ? { base_url: server } : {}),
  };
}

/** Updates a port the user hasn't changed when the setting it depends on changes. */
function withUsualPort(before: JsonObject, after: JsonObject): JsonObject {
  for (const [setting, ports] of Object.entries(USUAL_PORTS)) {
    const [was, is] = [before[setting], after[setting]];
    const next = typeof is === 'string' ? ports[is] : undefined;
    if (was === is || next === undefined) continue;
    const isUsual = Object.values(ports).some((port) => port === after.port);
    if (after.port === undefined || isUsual) return { ...after, port: next };
  }
  return after;
}

interface FieldsProps {
  definition: CredentialTypeItem;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  /** The credential to edit; null: a new one. */
  credential: Credential | null;
  /** The hosts it is bound to. */
  hosts: readonly string[];
  /** The service that it is made for, if that is known. */
  service?: string | undefined;
  /** Focuses the first field to fill in when the dialog opens. */
  takesFocus?: boolean;
}

/** Whether the service has a secret; `unknown`: stored before that was recorded. */
type Stored = 'yes' | 'no' | 'unknown';

function storedOf(credential: Credential | null, name: string): Stored {
  if (credential === null || credential.needs_secret) return 'no';
  if (credential.stored_secrets === null) return 'unknown';
  return credential.stored_secrets.includes(name) ? 'yes' : 'no';
}

/** A type's fields: ordinary settings, and write-only secrets. */
export function CredentialFields({
  definition,
  value,
  onChange,
  credential,
  hosts,
  service,
  takesFocus = false,
}: FieldsProps) {
  const { t } = useTranslation();
  const fields = Object.entries(propertiesOf(definition)).map(([name, schema]) => ({
    name,
    schema,
    isRequired: schema.default === undefined,
  }));
  const shown = fields.filter((field) => applies(field, value, fields));
  // What only its owner knows: a required setting, else the first secret.
  const first =
    shown.find(
      ({ name, schema, isRequired }) => isRequired && !isSecret(schema) && value[name] === undefined,
    ) ?? shown.find(({ schema }) => isSecret(schema));
  const [focused] = useState(first?.name);
  const names = shown.map(({ name }) => name);
  const guides = guidesByField(definition.guides, { fields: value, hosts, shown: names, service });
  const textsOf = ({ name, schema }: (typeof shown)[number]) => {
    const textKey = fieldText(definition.type, name);
    return textKey === null
      ? { title: textOr(schema.title, name), description: textOr(schema.description, '') }
      : { title: t(`${textKey}.title`), description: t(`${textKey}.hint`) };
  };
  const drawField = (field: (typeof shown)[number]) => {
    const { name, schema, isRequired } = field;
    const { title, description } = textsOf(field);
    const change = (next: JsonValue | undefined) =>
      onChange(withService(name, withUsualPort(value, withMember(value, name, next))));
    return isSecret(schema) ? (
      <SecretField
        key={name}
        name={name}
        title={title}
        hint={description}
        schema={schema}
        value={value[name]}
        onChange={change}
        stored={storedOf(credential, name)}
        takesFocus={takesFocus && name === focused}
      />
    ) : (
      <Field
        key={name}
        name={name}
        schema={{ ...withoutNull(schema), title, description, ...translatedLabels(schema, t) }}
        takesFocus={takesFocus && name === focused}
        isRequired={isRequired}
        value={value[name] ?? undefined}
        pointer={`/fields/${name}`}
        onChange={change}
      />
    );
  };
  // Before the fields they are about, so that Tab leads from one of those to the next; after the one that names the service.
  const lead = shown[0]?.schema.enum === undefined ? 0 : 1;
  return (
    <Stack gap="sm">
      {shown.slice(0, lead).map(drawField)}
      <FieldGuides
        guides={shown.flatMap((field) =>
          (guides.get(field.name) ?? []).map((guide) => ({
            titles: shown
              .filter(({ name }) => guide.fields.includes(name))
              .map((each) => textsOf(each).title),
            guide,
          })),
        )}
      />
      {shown.slice(lead).map(drawField)}
    </Stack>
  );
}

/** The names of a field's values, as far as they are words. */
function translatedLabels(schema: Schema, t: TFunction): { 'x-labels'?: JsonObject } {
  const labels = schema['x-labels'];
  if (typeof labels !== 'object' || labels === null) return {};
  const entries = Object.entries(labels as JsonObject).map(([value, label]): [string, JsonValue] => {
    const key = choiceText(value);
    return [value, key === null ? label : t(key)];
  });
  return { 'x-labels': Object.fromEntries(entries) };
}

function textOr(value: JsonValue | undefined, other: string): string {
  return typeof value === 'string' ? value : other;
}

/** Keys have lines of equal length; what is said of them is text. */
const CODE = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

function KeyInput(props: TextareaProps) {
  return <Textarea {...props} autosize minRows={3} maxRows={8} spellCheck={false} styles={CODE} />;
}

function SecretField({
  name,
  title,
  hint,
  schema,
  value,
  onChange,
  stored,
  takesFocus,
}: {
  name: string;
  title: string;
  hint: string;
  schema: Schema;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
  stored: Stored;
  takesFocus: boolean;
}) {
  const { t } = useTranslation();
  const problem = useProblem(`/fields/${name}`);
  const mayBeEmpty = isNullable(schema) || schema.minLength === 0;
  // Empty keeps the stored secret.
  const mayBeStored = stored !== 'no';
  const isRemoved = mayBeStored && value === null;
  // A key of several lines can't be typed into an input, which drops the line breaks.
  const SecretInput = schema['x-multiline'] === true ? KeyInput : PasswordInput;
  const hints = { yes: t('credentials.keepSecret'), unknown: t('credentials.keepUnknown'), no: undefined };
  return (
    <Stack gap={4}>
      <SecretInput
        {...(takesFocus ? { 'data-autofocus': true } : {})}
        label={title}
        description={hint}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        // Prevents browsers from filling in a saved password or offering to save one.
        autoComplete="new-password"
        value={typeof value === 'string' ? value : ''}
        placeholder={isRemoved ? undefined : hints[stored]}
        onChange={(event) => {
          const { value: text } = event.currentTarget;
          onChange(text === '' && (mayBeStored || schema.minLength !== 0) ? undefined : text);
        }}
        disabled={isRemoved}
        error={problem}
        // Mantine doesn't mark passwords itself.
        aria-invalid={problem === null ? undefined : true}
        required={!mayBeStored && !mayBeEmpty}
      />
      {mayBeStored && isNullable(schema) && (
        <Switch
          size="xs"
          label={t('credentials.removeSecret')}
          checked={isRemoved}
          onChange={(event) => onChange(event.currentTarget.checked ? null : undefined)}
        />
      )}
    </Stack>
  );
}
