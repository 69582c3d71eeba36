import { BlockList, isIP } from 'node:net';

/** Whether a caller's address is in the list of addresses and networks. */
export type AllowsAddress = (address: string) => boolean;

/**
 * Parses a list of addresses and networks in CIDR notation. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) counts as IPv4.
 * @throws Error for an entry that is neither
 */
export function createAllowList(entries: readonly string[]): AllowsAddress {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = familyOf(address);
    if (family === null) throw new Error(`${JSON.stringify(entry)} is not an address`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = familyOf(address);
    return family !== null && list.check(address, family);
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address);
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6';
}
