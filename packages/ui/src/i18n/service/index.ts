import type { NodeType } from '@millrace/admin-api';
import { useSyncExternalStore } from 'react';
import type { Language } from '../languages.ts';
import { translateNodeType } from './node-types.ts';
import type { ServiceTexts } from './texts.ts';

/** Null: the service's own texts are shown. */
let texts: ServiceTexts | null = null;
let wanted: Language = 'en';
/** Translations are loading, or will be once something shows them. */
let isComing = false;
const listeners = new Set<() => void>();

/** Chooses the language of node types. Translations are as large as a page, so they are loaded by the first one that shows them. */
export function chooseServiceTexts(language: Language): void {
  if (language === wanted) return;
  wanted = language;
  texts = null;
  isComing = language !== 'en';
  if (listeners.size > 0) void load();
}

/** Until they are loaded no node types are shown; if that fails, the service's own texts are. */
async function load(): Promise<void> {
  const language = wanted;
  const loaded = language === 'ja' ? await import('./ja.ts').catch(() => null) : null;
  // Another language may have been chosen meanwhile.
  if (language !== wanted) return;
  texts = loaded?.serviceJa ?? null;
  isComing = false;
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  if (isComing) void load();
  return () => listeners.delete(tell);
}

/** Node types in the reader's language; none while the translations are loading. */
export function useTranslateNodeTypes(): Translator {
  const now = useSyncExternalStore(subscribe, snapshot);
  return now === null ? NONE : now === 'as they are' ? AS_THEY_ARE : translatorFor(now);
}

/** @param own Japanese texts that came with the types */
type Translator = (
  types: readonly NodeType[],
  own?: Pick<ServiceTexts, 'nodes' | 'choices'>,
) => readonly NodeType[];
const NONE: Translator = () => [];
const AS_THEY_ARE: Translator = (types) => types;
const translators = new WeakMap<ServiceTexts, Translator>();

function snapshot(): ServiceTexts | 'as they are' | null {
  if (isComing && texts === null) return null;
  return texts ?? 'as they are';
}

/** Returns the same translator for the same texts, so that memoization works. */
function translatorFor(now: ServiceTexts): Translator {
  const known = translators.get(now);
  if (known !== undefined) return known;
  const translator: Translator = (types, own) =>
    types.map((type) => translateNodeType(type, own === undefined ? now : { ...now, ...own }));
  translators.set(now, translator);
  return translator;
}
