import { message, verbatim } from '@millrace/messages';
import { SaxesParser } from 'saxes';
import { DocumentFault } from '../documents/fault.ts';
import { reasonOf } from '../documents/xml.ts';

export interface XmlEvents {
  /** @param name without a prefix */
  open?(name: string, attributes: { readonly [name: string]: string }): void;
  text?(text: string): void;
  close?(name: string): void;
}

/**
 * Reads XML piece by piece; nothing of it is kept. Yields after each piece, so that what it contained can be used.
 * @throws DocumentFault invalid_data when it isn't well-formed
 */
export async function* readXml(pieces: AsyncIterable<Uint8Array>, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const decoder = new TextDecoder();
  parser.on('error', ({ message: said }) => {
    const reason = verbatim(reasonOf(said));
    throw new DocumentFault('invalid_data', message('ports.workbook_broken', { reason }));
  });
  parser.on('opentag', ({ name, attributes }) => events.open?.(localName(name), attributes));
  parser.on('text', (text) => events.text?.(text));
  parser.on('cdata', (text) => events.text?.(text));
  parser.on('closetag', ({ name }) => events.close?.(localName(name)));
  for await (const piece of pieces) {
    parser.write(decoder.decode(piece, { stream: true }));
    yield;
  }
  parser.write(decoder.decode()).close();
  yield;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
