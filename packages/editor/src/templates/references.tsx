import { Group, Select } from '@mantine/core';
import { credentialStart } from '@millrace/editor-model/credential-start.ts';
import type { Schema } from '@millrace/editor-model/field-shape.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useContext, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { focusFirstEmpty, wholeFormOf } from '../form/first-empty.ts';
import { useForm } from '../form/form-context.tsx';
import { NewCredential } from '../form/new-credential.ts';

interface ReferenceProps {
  id: string;
  'aria-describedby': string;
  disabled: boolean;
  label: string;
  value: number | null;
  onChange: (id: number | undefined) => void;
}

interface CredentialProps extends ReferenceProps {
  types: readonly string[];
  /** Kinds of databases; null: any. */
  dialects: readonly string[] | null;
  isNeeded: boolean;
  schema: Schema;
  pointer: string;
}

/** Selects or creates a credential of one of these types; a deleted one is shown by its number. */
export function CredentialSelect({
  types,
  dialects,
  isNeeded,
  schema,
  pointer,
  label,
  value,
  onChange,
  ...common
}: CredentialProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const Dialog = useContext(NewCredential);
  const [isMaking, setIsMaking] = useState(false);
  const { data } = useQuery(endpointQuery('GET /orgs/:org/credentials', { params: { org } }));
  const fitting = (data?.items ?? []).filter(
    ({ type, settings }) =>
      types.includes(type) && (dialects === null || dialects.some((dialect) => dialect === settings.dialect)),
  );
  const [only, ...others] = fitting;
  const { isNew = false, whole = null } = useForm();
  const nameOfType = useTypeNames();
  const isClear = isNeeded && isNew && value === null && others.length === 0 && !common.disabled;
  const frame = useRef<HTMLDivElement>(null);
  /** A credential was chosen without this control: go on to the next field. */
  const goesOn = useRef(false);
  const take = (id: number) => {
    goesOn.current = true;
    onChange(id);
  };
  const takeOnly = useEffectEvent(take);
  const clear = isClear ? only?.id : undefined;
  const hasOffered = useRef(false);
  useEffect(() => {
    // Once: it may be cleared again.
    if (clear === undefined || hasOffered.current) return;
    hasOffered.current = true;
    takeOnly(clear);
  }, [clear]);
  useEffect(() => {
    if (value === null || isMaking || !goesOn.current) return;
    goesOn.current = false;
    const { activeElement } = document;
    const isHere = activeElement === document.body || frame.current?.contains(activeElement) === true;
    if (isHere) focusFirstEmpty(wholeFormOf(frame.current));
  }, [value, isMaking]);
  // Where there is only one type, it says nothing.
  const labelOf = (name: string, type: string) =>
    types.length > 1 && nameOfType !== null ? `${name} (${nameOfType(type)})` : name;
  const start = isMaking ? credentialStart(schema, whole, pointer) : null;
  return (
    <Group gap={4} wrap="nowrap" ref={frame}>
      <Select
        {...common}
        flex={1}
        data={withValue(
          fitting.map(({ id, name, type }) => ({ value: String(id), label: labelOf(name, type) })),
          value,
          (id) => (data === undefined ? `#${id}` : t('forms.goneCredential', { id })),
        )}
        value={value === null ? null : String(value)}
        onChange={(next) => onChange(next === null ? undefined : Number(next))}
        placeholder={t('forms.chooseCredential')}
        nothingFoundMessage={t('forms.noCredential', {
          types: types.map(nameOfType ?? String).join(t('common.listSeparator')),
        })}
        searchable
        clearable
      />
      {Dialog !== null && !common.disabled && (
        <IconButton
          icon={Plus}
          label={t('forms.newCredentialFor', { label })}
          hint={t('forms.newCredential')}
          iconSize={14}
          variant="default"
          size={30}
          onClick={() => setIsMaking(true)}
        />
      )}
      {Dialog !== null && isMaking && (
        <Dialog
          onlyTypes={types}
          {...(start === null ? {} : { start })}
          onKept={({ id }) => take(id)}
          onClose={() => setIsMaking(false)}
        />
      )}
    </Group>
  );
}

/** Those of the page of credentials, loaded with the first field that names one. */
const loadTypes = () => import('@millrace/ui/i18n/credential-types.ts');
type Types = Awaited<ReturnType<typeof loadTypes>>;

/** What people call a type of credential; null until the texts have loaded. */
function useTypeNames(): ((type: string) => string) | null {
  const { t } = useTranslation();
  const [types, setTypes] = useState<Types | null>(null);
  useEffect(() => {
    let isOver = false;
    const take = (loaded: Types) => {
      if (!isOver) setTypes(loaded);
    };
    // The field can be used without them.
    loadTypes().then(take, () => undefined);
    return () => {
      isOver = true;
    };
  }, []);
  if (types === null) return null;
  return (type) => types.titleOfType(type, t);
}

/** Selects a workflow of the organisation. */
export function WorkflowSelect({ label: _label, value, onChange, ...common }: ReferenceProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/workflows', { params: { org }, query: { limit: 200 } }),
  );
  const found = (data?.items ?? []).map(({ id, name }) => ({ value: String(id), label: `${name} (#${id})` }));
  return (
    <Select
      {...common}
      data={withValue(found, value, (id) => t('forms.otherWorkflow', { id }))}
      value={value === null ? null : String(value)}
      onChange={(next) => onChange(next === null ? undefined : Number(next))}
      placeholder={t('forms.chooseWorkflow')}
      searchable
      clearable
    />
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The options, plus the current value if it isn't among them. */
function withValue(
  choices: readonly Choice[],
  value: number | null,
  describe: (id: number) => string,
): Choice[] {
  const isMissing = value !== null && !choices.some((choice) => choice.value === String(value));
  return isMissing ? [...choices, { value: String(value), label: describe(value) }] : [...choices];
}
