import { Combobox, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { CredentialOptions } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { FieldError, Hint } from '@millrace/ui/components/text.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Fragment, type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';
import { PickList } from './pick-list.tsx';

type Option = CredentialOptions['items'][number];

/** A list of a connector. */
export interface OptionSource {
  readonly list: string;
  /** What it reads of the node's other settings. */
  readonly settings: JsonObject;
  /** The field that has to be filled in first; null: none. */
  readonly needs: string | null;
}

interface OptionFieldProps {
  /** The credential that another field of the form names; null: none yet. */
  credentialId: number | null;
  label: string;
  /** Null: what the type of the credential lists. */
  list: OptionSource | null;
  onChange: (value: string) => void;
  /** Draws the field, with the button that opens the list. */
  children: (actions: ReactNode) => ReactNode;
}

/** A field whose values the service behind a credential lists, such as models or channels. They can also be typed. */
export function OptionField({ credentialId, label, list, onChange, children }: OptionFieldProps) {
  const { isReadOnly } = useForm();
  // Another credential has another list.
  const [failed, setFailed] = useState<{ readonly of: number; readonly failure: Failure } | null>(null);
  const onFailure = (of: number) => (failure: Failure | null) =>
    setFailed(failure === null ? null : { of, failure });
  // The same elements with and without a list, so that the field keeps the focus when a credential is chosen.
  return (
    <div>
      {children(
        credentialId !== null && !isReadOnly && (
          <OptionList
            key={credentialId}
            credentialId={credentialId}
            label={label}
            list={list}
            onChange={onChange}
            onFailure={onFailure(credentialId)}
          />
        ),
      )}
      {failed !== null && failed.of === credentialId && (
        <FieldError mt={4}>{translateMessage(failed.failure)}</FieldError>
      )}
    </div>
  );
}

type Failure = NonNullable<CredentialOptions['failure']>;

interface OptionListProps {
  credentialId: number;
  label: string;
  list: OptionSource | null;
  onChange: (value: string) => void;
  onFailure: (failure: Failure | null) => void;
}

/** A button that opens the list. */
function OptionList({ label, onChange, ...choices }: OptionListProps) {
  const { t } = useTranslation();
  const more = useRef<() => void>(() => undefined);
  const needs = choices.list?.needs ?? null;
  const choose = (value: string) => {
    const isMore = value === MORE;
    if (isMore) more.current();
    else onChange(value);
    return isMore;
  };
  return (
    <PickList text={t('forms.options.open')} label={t('forms.options.openFor', { label })} onChoose={choose}>
      {needs === null ? (
        <OptionChoices {...choices} label={label} more={more} />
      ) : (
        <Combobox.Empty ta="start">{t('forms.options.needs', { label: needs })}</Combobox.Empty>
      )}
    </PickList>
  );
}

interface ChoicesProps extends Pick<OptionListProps, 'credentialId' | 'label' | 'list' | 'onFailure'> {
  /** Loads the next page. */
  more: RefObject<() => void>;
}

/** The search and what it finds; loaded when the list is opened. */
function OptionChoices({ credentialId, label, list: source, onFailure, more }: ChoicesProps) {
  const { t } = useTranslation();
  const org = useOrg();
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, SEARCH_DELAY_MS);
  const listed = source === null ? {} : { list: source.list, settings: JSON.stringify(source.settings) };
  const at = { params: { org, credential: credentialId }, query: { search, ...listed } };
  const list = usePages('GET /orgs/:org/credentials/:credential/options', at, {
    keepsPrevious: true,
    // The service keeps lists, and forgets failures: what was mended is found by opening the list again.
    staleTime: 0,
  });
  const [first] = list.data?.pages ?? [];
  const failure = first?.failure ?? null;
  const tell = useEffectEvent(onFailure);
  useEffect(() => {
    if (list.isSuccess) tell(failure);
  }, [list.isSuccess, failure]);
  useEffect(() => {
    more.current = () => void list.fetchNextPage();
  }, [more, list.fetchNextPage]);
  const state = (): string | null => {
    if (list.error instanceof ApiProblem) return list.error.message;
    if (list.error !== null) return t('common.errorUnreachable');
    if (list.isPending) return t('common.loading');
    if (failure !== null) return translateMessage(failure);
    return list.items.length === 0 ? t('forms.options.none') : null;
  };
  const said = state();
  return (
    <>
      <Combobox.Search
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        placeholder={t('forms.options.search')}
        aria-label={t('forms.options.search')}
      />
      <Combobox.Options mah={280} style={{ overflowY: 'auto' }} aria-label={label}>
        {said === null ? (
          [...Map.groupBy(list.items, ({ group }) => group)].map(([group, options]) =>
            group === null ? (
              <Fragment key="">{options.map(drawOption)}</Fragment>
            ) : (
              <Combobox.Group key={group} label={group}>
                {options.map(drawOption)}
              </Combobox.Group>
            ),
          )
        ) : (
          <Combobox.Empty ta="start">{said}</Combobox.Empty>
        )}
        {list.hasNextPage && <Combobox.Option value={MORE}>{t('forms.options.more')}</Combobox.Option>}
      </Combobox.Options>
      {first?.is_complete === false && (
        <Combobox.Footer>
          <Hint>{t('forms.options.cut')}</Hint>
        </Combobox.Footer>
      )}
    </>
  );
}

const SEARCH_DELAY_MS = 200;
/** Loads the next page; no service has such a name. */
const MORE = '\u0000more';

function drawOption({ value, label }: Option) {
  return (
    <Combobox.Option key={value} value={value}>
      {label}
      {label !== value && (
        <Text span size="xs" c="dimmed" display="block" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {value}
        </Text>
      )}
    </Combobox.Option>
  );
}
