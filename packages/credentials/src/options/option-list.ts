import type { Egress } from '@millrace/egress/egress';
import type { CredentialOf, CredentialType } from '@millrace/engine';
import { ServiceError } from '@millrace/engine';
import type { Message } from '@millrace/messages';

/** A value that a node's setting can take, as the service behind the credential lists it. */
export interface Option {
  readonly value: string;
  readonly label: string;
  /** What it belongs to, where one credential reaches several. */
  readonly group: string | null;
}

/** What a service lists. */
export interface OptionList {
  readonly items: readonly Option[];
  /** False: the service has more. */
  readonly isComplete: boolean;
}

/** What one listing may use. */
export interface Listing<Type extends CredentialType> {
  readonly credential: CredentialOf<Type>;
  readonly http: ReturnType<Egress['http']>;
  /** Aborted on timeout. */
  readonly signal: AbortSignal;
}

/** Requests of one listing. */
export const MAX_PAGES = 20;
/** Kept of one listing; the rest can be typed. */
export const MAX_ITEMS = 5_000;
const MAX_CHARACTERS = 200;

/** Why there is no list: shown beside the field. */
export function unlisted(code: string, explanation: Message): ServiceError {
  return new ServiceError(code, explanation);
}

/** The listed values, sorted for people, without those that are empty or occur twice. */
export function optionList(found: readonly Option[], isComplete: boolean): OptionList {
  const unique = new Map(found.filter(({ value }) => value !== '').map((option) => [option.value, option]));
  const sorted = [...unique.values()]
    .filter(({ value }) => value.length <= MAX_CHARACTERS)
    .map(({ value, label, group }) => ({
      ...{ value, label: cut(label === '' ? value : label), group: group === null ? null : cut(group) },
    }))
    .toSorted((a, b) => compareText(a.group ?? '', b.group ?? '') || compareText(a.label, b.label));
  return { items: sorted.slice(0, MAX_ITEMS), isComplete: isComplete && sorted.length <= MAX_ITEMS };
}

const { compare: compareText } = new Intl.Collator('en', { numeric: true });

function cut(text: string): string {
  return text.slice(0, MAX_CHARACTERS);
}
