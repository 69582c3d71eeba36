import type { NodeType, NodeTypeOutline } from '@millrace/admin-api';
import { useSyncExternalStore } from 'react';
import type { Language } from '../languages.ts';
import { translateNodeType } from './node-types.ts';
import type { ServiceTexts } from './texts.ts';

/** Null: the service's own texts are shown. */
let texts: ServiceTexts | null = null;
let wanted: Language = 'en';
/** Translations are loading, or will be once something shows them. */
let isComing = false;
/** Something shows more of node types than their titles. */
let isWholeNeeded = false;
const listeners = new Set<() => void>();

/** Chooses the language of node types. Translations are loaded by the first page that shows some. */
export function chooseServiceTexts(language: Language): void {
  if (language === wanted) return;
  wanted = language;
  texts = null;
  isComing = language !== 'en';
  if (listeners.size > 0) void load();
}

/**
 * Loads everything that is said of node types, for what shows more than their titles: all fields of all forms are as large as a page. Readers
 * of other languages get it when they choose theirs.
 */
export async function needWholeTexts(): Promise<void> {
  isWholeNeeded = true;
  if (wanted !== 'en') await load();
}

/** Until they are loaded no node types are shown; if that fails, the service's own texts are. */
async function load(): Promise<void> {
  const language = wanted;
  const isWhole = isWholeNeeded;
  const loaded = language === 'ja' ? await loadJapanese(isWhole).catch(() => null) : null;
  // Another language may have been chosen meanwhile, or everything have come before the titles.
  if (language !== wanted || (!isWhole && texts !== null)) return;
  texts = loaded ?? texts;
  isComing = false;
  for (const tell of listeners) tell();
}

/** What the canvas and lists show of node types is their titles. */
async function loadJapanese(isWhole: boolean): Promise<ServiceTexts> {
  if (isWhole) return (await import('./ja.ts')).serviceJa;
  const { default: nodes } = await import('./ja/titles.json');
  return { nodes, choices: {}, synonyms: {}, withValue: (word) => word };
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  if (isComing) void load();
  return () => listeners.delete(tell);
}

const subscribeNever = () => () => undefined;

/**
 * Node types in the reader's language; none while the translations are loading.
 * @param isNeeded loads the translations, unless something else has
 */
export function useTranslateNodeTypes(isNeeded = true): Translator {
  const now = useSyncExternalStore(isNeeded ? subscribe : subscribeNever, snapshot);
  return now === null ? NONE : now === 'as they are' ? AS_THEY_ARE : translatorFor(now);
}

/** @param own Japanese texts that came with the types */
type Translator = (
  types: readonly (NodeType | NodeTypeOutline)[],
  own?: Pick<ServiceTexts, 'nodes'> & Partial<ServiceTexts>,
) => readonly (NodeType | NodeTypeOutline)[];
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
