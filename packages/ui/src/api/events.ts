import { useDocumentVisibility } from '@mantine/hooks';
import type { EndpointName, Events } from '@millrace/admin-api';
import { parseJson } from '@millrace/engine';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { loadMessagesIn } from '../i18n/messages.ts';
import { type AnyOptions, type CallArguments, pathOf } from './client.ts';
import { endpointKey } from './query.ts';

type Handlers<Name extends EndpointName> = {
  readonly [Event in keyof Events<Name>]?: (data: Events<Name>[Event]) => void;
};

const REOPEN_AFTER_MS = 5_000;

/**
 * Subscribes to an endpoint's server-sent events while the component is mounted, reconnecting when they end. Hidden
 * tabs don't subscribe: browsers allow six connections per HTTP/1.1 host across all tabs, so six streams would block
 * every page load. Each stream starts with the missed events.
 * @param isOn false: no stream is opened
 * @returns whether the stream is open
 */
export function useEvents<Name extends EndpointName>(
  name: Name,
  options: CallArguments<Name>[0],
  handlers: Handlers<Name>,
  isOn = true,
): boolean {
  const queryClient = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const isSeen = useDocumentVisibility() === 'visible';
  const address = pathOf(name, options as AnyOptions | undefined);
  const names = Object.keys(handlers).join(' ');
  const handle = useEffectEvent((event: string, text: string) => {
    const handler = (handlers as { readonly [event: string]: ((data: unknown) => void) | undefined })[event];
    // Streams carry node outputs and samples, and a page can't read the header that marks them exact.
    handler?.(parseJson(text));
  });
  useEffect(() => {
    if (!isOn || !isSeen) return;
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    /** Each event follows the one before, whatever its messages have to load. */
    let last = Promise.resolve();
    const take = (event: string, text: string) => {
      const texts = loadMessagesIn(text);
      last = last
        .then(() => texts)
        .then(() => {
          if (!isOver) handle(event, text);
        })
        .catch(reportError);
    };
    const open = () => {
      source = new EventSource(address);
      source.addEventListener('open', () => setIsOpen(true));
      source.addEventListener('error', () => {
        setIsOpen(false);
        if (source.readyState !== EventSource.CLOSED) return;
        // Refused, so the browser won't reconnect by itself: the session may have ended or the role changed, or a proxy
        // reports that the service is down.
        void queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
        again = setTimeout(open, REOPEN_AFTER_MS);
      });
      for (const event of names.split(' ')) {
        source.addEventListener(event, (message) => take(event, String((message as MessageEvent).data)));
      }
    };
    open();
    return () => {
      isOver = true;
      clearTimeout(again);
      source.close();
      setIsOpen(false);
    };
  }, [address, names, isOn, isSeen, queryClient]);
  return isOpen;
}
