import { own } from '@millrace/engine';
import { addJapanese } from '@millrace/ui/i18n/japanese.ts';
import i18next from 'i18next';

/** Hints that are loaded together: one is shown at a time, and all of them are as large as a page. */
const LOADERS = {
  ai: [
    () => import('@millrace/ui/i18n/en/hints/ai.json'),
    () => import('@millrace/ui/i18n/ja/hints/ai.json'),
  ],
  data: [
    () => import('@millrace/ui/i18n/en/hints/data.json'),
    () => import('@millrace/ui/i18n/ja/hints/data.json'),
  ],
  run: [
    () => import('@millrace/ui/i18n/en/hints/run.json'),
    () => import('@millrace/ui/i18n/ja/hints/run.json'),
  ],
  services: [
    () => import('@millrace/ui/i18n/en/hints/services.json'),
    () => import('@millrace/ui/i18n/ja/hints/services.json'),
  ],
} as const;

export type HintFamily = keyof typeof LOADERS;

const FAMILIES: readonly (readonly [HintFamily, RegExp])[] = [
  ['ai', /^(?:ai|agent)_/],
  ['data', /^(?:db|sql|data|document|code|credential|database)_|^(?:invalid_credential|statement_timeout)$/],
  [
    'services',
    /^(?:mail|chat|connector|webhook|http|message)_|^(?:invalid_response|invalid_url|target_not_allowed|connection_failed|timeout|too_many_redirects|response_too_large)$/,
  ],
];

/** The file that has the hint for an error code, if any has. */
export function hintFamilyOf(code: string): HintFamily {
  return FAMILIES.find(([, codes]) => codes.test(code))?.[0] ?? 'run';
}

/** Loads hints in English, and in Japanese for Japanese readers. */
export async function loadHints(family: HintFamily): Promise<void> {
  const [inEnglish, inJapanese] = LOADERS[family];
  await Promise.all([
    inEnglish().then(({ default: texts }) => i18next.addResourceBundle('en', 'errorHints', texts, true)),
    addJapanese(async () => ({ errorHints: (await inJapanese()).default })),
  ]);
}

/** Advice for an error code, once it is loaded. */
export function errorHint(code: string): string | undefined {
  const texts: unknown = i18next.getResourceBundle(i18next.language, 'errorHints');
  const hints = { ...(texts as { readonly [code: string]: string | undefined } | undefined) };
  return own(hints, code);
}
