import i18next from 'i18next';

/** Texts by namespace. */
export type Texts = { readonly [namespace: string]: object };

/** What loads the Japanese texts that something on the page shows, until it has. */
const loaders = new Set<() => Promise<Texts>>();
let isWanted = false;

/** Adds Japanese texts: at once for Japanese readers, else when that language is chosen. Without them the page is English. */
export async function addJapanese(load: () => Promise<Texts>): Promise<void> {
  loaders.add(load);
  if (isWanted) await loadJapanese(load).catch(() => undefined);
}

/**
 * Says whether the page is Japanese; if so, loads what was added so far.
 * @throws if texts can't be loaded; they are tried again when the language is chosen again
 */
export async function wantJapanese(is: boolean): Promise<void> {
  isWanted = is;
  if (is) await Promise.all([...loaders].map(loadJapanese));
}

async function loadJapanese(load: () => Promise<Texts>): Promise<void> {
  for (const [namespace, texts] of Object.entries(await load())) {
    i18next.addResourceBundle('ja', namespace, texts, true);
  }
  loaders.delete(load);
}
