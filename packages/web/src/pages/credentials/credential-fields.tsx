import { PasswordInput, Stack, Switch } from '@mantine/core';
import type { Credential, CredentialTypeItem } from '@millrace/admin-api';
import { Field } from '@millrace/editor/fields/field.tsx';
import { withMember } from '@millrace/editor/form/field-props.ts';
import { isNullable, type Schema } from '@millrace/editor/form/field-shape.ts';
import { useProblem } from '@millrace/editor/form/form-context.tsx';
import type { JsonObject, JsonValue } from '@millrace/engine';
import { useTranslation } from 'react-i18next';
import { fieldText } from './credential-text.ts';

export function propertiesOf({ schema }: CredentialTypeItem): { readonly [name: string]: Schema } {
  return (schema.properties ?? {}) as { readonly [name: string]: Schema };
}

export function isSecret(schema: Schema): boolean {
  return schema['x-secret'] === true;
}

/** What the fields of a new credential begin with: the defaults, and of secrets that may be empty nothing. */
export function initialFields(definition: CredentialTypeItem): JsonObject {
  const preset = Object.entries(propertiesOf(definition)).flatMap(([name, schema]): [string, JsonValue][] => {
    if (isSecret(schema)) return schema.minLength === 0 ? [[name, '']] : [];
    return schema.default === undefined || schema.default === null ? [] : [[name, schema.default]];
  });
  return Object.fromEntries(preset);
}

/** The form leaves a value out instead of setting it to null. */
function withoutNull(schema: Schema): Schema {
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.find((each) => each !== 'null') ?? 'string' } : schema;
}

/** The port that a kind of server, or a kind of encryption, usually listens on. */
const USUAL_PORTS: { readonly [setting: string]: { readonly [value: string]: number } } = {
  dialect: { postgresql: 5432, mysql: 3306 },
  security: { starttls: 587, tls: 465 },
};

/** A port that nobody has chosen follows what it belongs to. */
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
  /** What is changed; null: a new one. */
  credential: Credential | null;
}

/** What the service has of a secret; `unknown`: it was stored before that was noted. */
type Stored = 'yes' | 'no' | 'unknown';

function storedOf(credential: Credential | null, name: string): Stored {
  if (credential === null || credential.needs_secret) return 'no';
  if (credential.stored_secrets === null) return 'unknown';
  return credential.stored_secrets.includes(name) ? 'yes' : 'no';
}

/** The fields of a type: settings as everywhere, secrets as what can be written and never read. */
export function CredentialFields({ definition, value, onChange, credential }: FieldsProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      {Object.entries(propertiesOf(definition)).map(([name, schema]) => {
        const textKey = fieldText(definition.type, name);
        const title = textKey === null ? textOr(schema.title, name) : t(`${textKey}.title`);
        const description = textKey === null ? textOr(schema.description, '') : t(`${textKey}.hint`);
        const change = (next: JsonValue | undefined) =>
          onChange(withUsualPort(value, withMember(value, name, next)));
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
          />
        ) : (
          <Field
            key={name}
            name={name}
            schema={{ ...withoutNull(schema), title, description }}
            isRequired={schema.default === undefined}
            value={value[name] ?? undefined}
            pointer={`/fields/${name}`}
            onChange={change}
          />
        );
      })}
    </Stack>
  );
}

function textOr(value: JsonValue | undefined, other: string): string {
  return typeof value === 'string' ? value : other;
}

function SecretField({
  name,
  title,
  hint,
  schema,
  value,
  onChange,
  stored,
}: {
  name: string;
  title: string;
  hint: string;
  schema: Schema;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
  stored: Stored;
}) {
  const { t } = useTranslation();
  const problem = useProblem(`/fields/${name}`);
  const mayBeEmpty = isNullable(schema) || schema.minLength === 0;
  // Empty means to keep what is there.
  const mayBeStored = stored !== 'no';
  const isRemoved = mayBeStored && value === null;
  const hints = { yes: t('credentials.keepSecret'), unknown: t('credentials.keepUnknown'), no: undefined };
  return (
    <Stack gap={4}>
      <PasswordInput
        label={title}
        description={hint}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        // Browsers fill in no saved password of another page, and offer to save none.
        autoComplete="new-password"
        value={typeof value === 'string' ? value : ''}
        placeholder={isRemoved ? undefined : hints[stored]}
        onChange={(event) => {
          const { value: text } = event.currentTarget;
          onChange(text === '' && (mayBeStored || schema.minLength !== 0) ? undefined : text);
        }}
        disabled={isRemoved}
        error={problem}
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
