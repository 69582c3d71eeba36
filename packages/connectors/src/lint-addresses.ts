import { type Message, message } from '@millrace/messages';
import type { Connector, Operation } from './format.ts';
import { type ConnectorFault, lintTemplates } from './lint-parts.ts';
import { isHost } from './request.ts';

/** Faults of the connector's own address, and of what depends on it. */
export function lintBase(connector: Connector): ConnectorFault[] {
  const { base_url: url, hosts, operations, triggers = [], authentication, own } = connector;
  const parts = url.split(/\{\{.*?\}\}/);
  if (parts.length > 2 || url.replace(/\{\{.*?\}\}/, '').includes('{{')) {
    return [{ pointer: '/base_url', message: message('connectors.several_templates') }];
  }
  const target = readAddress(parts.join('example'), own);
  if (!(target instanceof URL)) return [{ pointer: '/base_url', message: target }];
  const faults: ConnectorFault[] = [];
  const { types, chat, new_credential: newCredential = {} } = authentication;
  // One without any has no description either; only a file that has the member can have an empty list.
  if (types.length === 0 && (own !== true || authentication.description !== '')) {
    faults.push({ pointer: '/authentication/types', message: message('connectors.types_missing') });
  }
  for (const type of Object.keys(newCredential)) {
    if ((types as readonly string[]).includes(type)) continue;
    const pointer = `/authentication/new_credential/${type}`;
    faults.push({ pointer, message: message('connectors.not_its_type') });
  }
  if (types.includes('chat') !== (chat !== undefined) || (chat !== undefined && types.length > 1)) {
    faults.push({ pointer: '/authentication', message: message('connectors.chat_alone') });
  }
  if (chat !== undefined && parts.length > 1) {
    faults.push({
      pointer: '/base_url',
      message: message('connectors.template_before_token'),
    });
  }
  if (hosts.includes('*') && !/^https:\/\/\{\{[^{}]*\}\}(?:\/|$)/.test(url)) {
    faults.push({ pointer: '/hosts', message: message('connectors.any_host_only_whole') });
  }
  if (!hosts.some((host) => isHost(target.hostname, host))) {
    faults.push({
      pointer: '/hosts',
      message: message('connectors.host_not_listed', { host: target.hostname }),
    });
  }
  const paged = [...operations, ...triggers];
  if (parts.length > 1 && paged.some(isPagedByAddress)) {
    faults.push({
      pointer: '/base_url',
      message: message('connectors.template_and_links'),
    });
  }
  return [...faults, ...lintOtherAddress(connector)];
}

/** Faults of the address that a setting leads to. */
function lintOtherAddress({ other_address: other, hosts, authentication, own }: Connector): ConnectorFault[] {
  if (other === undefined) return [];
  const pointer = '/other_address/base_url';
  const target = readAddress(other.base_url.replace(/\{\{.*?\}\}/g, 'x'), own);
  if (!(target instanceof URL)) return [{ pointer, message: target }];
  const { hostname: host } = target;
  if (/^https?:\/\/[^/]*\{\{/.test(other.base_url) || authentication.chat !== undefined) {
    return [{ pointer, message: message('connectors.other_address_path') }];
  }
  if (!hosts.some((each) => isHost(host, each)))
    return [{ pointer, message: message('connectors.address_not_listed', { host }) }];
  return lintTemplates(other.base_url, pointer, [other.setting], null);
}

/** Faults of the addresses that an operation's settings lead to. */
export function lintAddresses(
  connector: Connector,
  names: readonly string[],
  used: Set<string>,
): ConnectorFault[] {
  const setting = connector.other_address?.setting;
  if (setting !== undefined) used.add(setting);
  return lintTemplates(connector.base_url, '/base_url', names, used);
}

/** An address without templates, or why credentials can't be sent there. */
function readAddress(url: string, own: boolean | undefined): URL | Message {
  const target = URL.parse(url);
  if (target === null || target.search !== '' || target.username !== '')
    return message('connectors.no_plain_address');
  // Services within a house often have no certificate, as those that http.request calls.
  return target.protocol === 'https:' || own === true ? target : message('connectors.not_https');
}

/** Whether an answer says where the next page is. */
function isPagedByAddress({ pagination }: Pick<Operation, 'pagination'>): boolean {
  return /link|next_url/.test(pagination?.type ?? '');
}

/** Faults of the address that a request has instead of the connector's. */
export function lintOwnAddress(
  { base_url: base, hosts, authentication, own }: Connector,
  { base_url: url }: Operation['request'],
  asked: Pick<Operation, 'pagination'>,
  at: string,
): ConnectorFault[] {
  if (url === undefined) return [];
  const pointer = `${at}/base_url`;
  const target = url.includes('{{') ? message('connectors.no_plain_address') : readAddress(url, own);
  if (!(target instanceof URL)) return [{ pointer, message: target }];
  const { hostname: host } = target;
  if (!hosts.some((each) => isHost(host, each)))
    return [{ pointer, message: message('connectors.address_not_listed', { host }) }];
  // A token goes before the path, wherever the credential says that the server is.
  const isElsewhere = authentication.chat !== undefined && !url.startsWith(`${base}/`);
  return isElsewhere || isPagedByAddress(asked)
    ? [{ pointer, message: message('connectors.own_address_alone') }]
    : [];
}
