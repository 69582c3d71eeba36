/** The servers of one database. */
export interface DatabaseHosts {
  /** One URL per server, in the order they are tried. */
  readonly urls: readonly string[];
  /** Whether to skip servers that reject writes, such as standbys. */
  readonly mustBeWritable: boolean;
}

const WRITABLE_BY_ATTRIBUTE: ReadonlyMap<string, boolean> = new Map([
  ['any', false],
  ['read-write', true],
  ['primary', true],
]);
const MAX_HOSTS = 32;

/**
 * Parses a database URL like libpq, including several servers: `postgresql://host1:5432,host2/name`, or `?host=host1,host2&port=5432`. With
 * several, the one that accepts writes is used, unless `target_session_attrs=any`.
 * @returns undefined when it isn't such a URL, names no database, or requests a server that Millrace can't work with
 */
export function parseDatabaseHosts(text: string): DatabaseHosts | undefined {
  const match = /^(postgres(?:ql)?:\/\/)([^/?#]*)(\/[^?#]+)(?:\?([^#]*))?$/i.exec(text);
  if (match === null) return undefined;
  const [, scheme = '', authority = '', path = '', query = ''] = match;
  const params = new URLSearchParams(query);
  const attribute = params.get('target_session_attrs');
  params.delete('target_session_attrs');
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const places = readPlaces(authority.slice(user.length), params);
  const isWritable = attribute === null ? undefined : WRITABLE_BY_ATTRIBUTE.get(attribute);
  if (places === undefined || (attribute !== null && isWritable === undefined)) return undefined;
  const urls = places.map(({ host, port }) => {
    const own = new URLSearchParams(params);
    const isFolder = /^(\/|%2f)/i.test(host);
    if (isFolder) own.set('host', decodeURIComponent(host));
    const place = `${isFolder ? 'localhost' : host}${port === '' ? '' : `:${port}`}`;
    return `${scheme}${user}${place}${path}${own.size === 0 ? '' : `?${own.toString()}`}`;
  });
  if (!urls.every((url) => URL.canParse(url))) return undefined;
  return { urls, mustBeWritable: isWritable ?? urls.length > 1 };
}

interface Place {
  readonly host: string;
  /** Empty: the default port. */
  readonly port: string;
}

/** Removes `host` and `port` from the parameters, which override the authority. */
function readPlaces(authority: string, params: URLSearchParams): Place[] | undefined {
  const [hosts, ports] = [params.get('host'), params.get('port')];
  params.delete('host');
  params.delete('port');
  const written = authority.split(',').map((item) => /^(\[[^\]]+\]|[^:[\]]*)(?::(\d*))?$/.exec(item));
  const portList = ports?.split(',') ?? written.map((item) => item?.[2] ?? '');
  const hostList = hosts?.split(',') ?? written.map((item) => item?.[1] ?? '');
  if (written.includes(null) || hostList.length > MAX_HOSTS) return undefined;
  if (portList.length !== 1 && portList.length !== hostList.length) return undefined;
  if (!portList.every((port) => /^\d{0,5}$/.test(port))) return undefined;
  return hostList.map((host, index) => ({
    host: host === '' ? 'localhost' : host,
    port: portList[portList.length === 1 ? 0 : index] ?? '',
  }));
}
