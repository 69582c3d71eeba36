import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';

/** RFC 5321, 4.5.3.1: 64 octets before the sign, 254 in total. */
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;
// RFC 5322 dot-atom, with letters of any script (RFC 6531); no quoted local parts, which readers interpret differently.
const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
// Control characters would end the line of a header, and with it the header.
const CONTROL = /\p{Cc}/u;

/**
 * Parses addresses, `ada@example.com` or `Ada Lovelace <ada@example.com>`, from a list or from comma-separated text.
 * @returns each in one normal form: bare, or with the name in quotes
 * @throws NodeProblem
 */
export function readAddresses(setting: string, value: string | readonly string[]): readonly string[] {
  const texts = typeof value === 'string' ? [value] : value;
  return texts.flatMap((text) => splitAtCommas(text).map((part) => readAddress(setting, part)));
}

/** The part of a normal address that is sent to the server. */
export function bareAddress(address: string): string {
  return /<([^<>]+)>$/.exec(address)?.[1] ?? address;
}

function readAddress(setting: string, text: string): string {
  if (CONTROL.test(text)) {
    throw new NodeProblem(message('nodes.control_character', { setting }));
  }
  const named = /^(?<name>[^<>]*)<(?<inner>[^<>]*)>$/.exec(text);
  const bare = (named?.groups?.inner ?? text).trim();
  const at = bare.lastIndexOf('@');
  const local = bare.slice(0, Math.max(at, 0));
  const isValid =
    at > 0 &&
    LOCAL.test(local) &&
    DOMAIN.test(bare.slice(at + 1)) &&
    bytes(local) <= MAX_LOCAL &&
    bytes(bare) <= MAX_ADDRESS;
  if (!isValid) {
    throw new NodeProblem(message('nodes.not_an_address', { setting, given: text.slice(0, 80) }));
  }
  const name = unquoted(named?.groups?.name?.trim() ?? '');
  return name === '' ? bare : `"${name.replace(/["\\]/g, '\\$&')}" <${bare}>`;
}

/** Splits at commas outside of quotes; empty parts are dropped. */
function splitAtCommas(text: string): readonly string[] {
  const parts = text.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+|"/gsu) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function unquoted(name: string): string {
  return /^".*"$/s.test(name) ? name.slice(1, -1).replace(/\\(.)/gs, '$1') : name;
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
