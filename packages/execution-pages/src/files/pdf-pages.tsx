import '@millrace/ui/i18n/parts/files.ts';
import { Skeleton, Text } from '@mantine/core';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './files.module.css';
import { drawPages, MAX_PAGES, PdfPasswordError } from './pdf-document.ts';

interface State {
  readonly pages: number | null;
  readonly failure: 'broken' | 'password' | null;
}

/** The first pages of a PDF file, as pictures: scripts, forms and links in it do nothing. */
export function PdfPages({ bytes, name }: { bytes: Uint8Array; name: string }) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const [{ pages, failure }, setState] = useState<State>({ pages: null, failure: null });
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const stop = new AbortController();
    const drawn = drawPages(bytes, stop.signal, (canvas, number, count) => {
      canvas.className = classes.page ?? '';
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', t('files.page', { number, count }));
      current.append(canvas);
      setState({ pages: count, failure: null });
    });
    drawn.catch((error: unknown) => {
      if (stop.signal.aborted) return;
      setState({ pages: null, failure: error instanceof PdfPasswordError ? 'password' : 'broken' });
    });
    return () => {
      stop.abort();
      current.replaceChildren();
    };
  }, [bytes, t]);
  return (
    <>
      {failure !== null && (
        <Muted role="alert">{failure === 'password' ? t('files.password') : t('files.broken')}</Muted>
      )}
      {failure === null && pages === null && <Skeleton h={240} />}
      {pages !== null && pages > MAX_PAGES && (
        <Text size="xs">{t('files.firstPages', { shown: MAX_PAGES, count: pages })}</Text>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section ref={frame} className={classes.pages} tabIndex={0} aria-label={name} />
    </>
  );
}
