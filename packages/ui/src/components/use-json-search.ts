import { useDebouncedValue } from '@mantine/hooks';
import type { JsonValue } from '@millrace/engine';
import { useEffect, useState } from 'react';
import { type Matches, search } from './json-viewer-rows.ts';

/** Further matches can't be stepped through. */
export const MAX_MATCHES = 1_000;
const TYPING_PAUSE_MS = 200;
/** The page stays responsive between slices. */
const SLICE_MS = 16;
const NOTHING: Matches = { paths: [], isCut: false };

/** Searches a value in slices, so that the page doesn't freeze. */
export function useJsonSearch(value: JsonValue) {
  const [text, setText] = useState('');
  const [wanted] = useDebouncedValue(text, TYPING_PAUSE_MS);
  const [result, setResult] = useState({ value, wanted: '', found: NOTHING });
  // `moves` counts steps, so that even a single match is scrolled to again.
  const [at, setAt] = useState({ index: 0, moves: 0 });
  useEffect(() => {
    if (wanted === '') return;
    return runInSlices(search(value, wanted, MAX_MATCHES), (found) => {
      setResult({ value, wanted, found });
      setAt({ index: 0, moves: 0 });
    });
  }, [value, wanted]);
  const isDone = result.value === value && result.wanted === wanted;
  const found = isDone && wanted !== '' ? result.found : NOTHING;
  const count = found.paths.length;
  const go = (by: number) =>
    setAt(({ index, moves }) => ({ index: (index + by + count) % Math.max(1, count), moves: moves + 1 }));
  return { text, setText, wanted, found, isSearching: wanted !== '' && !isDone, ...at, go };
}

export type JsonSearch = ReturnType<typeof useJsonSearch>;

/** @returns a function that cancels the search */
function runInSlices(steps: Generator<undefined, Matches>, onDone: (found: Matches) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slice = () => {
    const endsAt = performance.now() + SLICE_MS;
    do {
      const { done, value } = steps.next();
      if (done === true) {
        onDone(value);
        return;
      }
    } while (performance.now() < endsAt);
    timer = setTimeout(slice);
  };
  timer = setTimeout(slice);
  return () => clearTimeout(timer);
}
