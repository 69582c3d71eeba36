import { BlockList, isIP } from 'node:net';

/**
 * IPv4 that isn't the public internet: IANA's special-purpose registry, multicast and reserved space, and the one public address a cloud
 * uses for its metadata (Azure's 168.63.129.16).
 */
const FORBIDDEN_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32',
  '169.254.0.0/16', // link-local, metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/** The only part of IPv6 that is allocated as global unicast; everything else is refused. */
const GLOBAL_IPV6 = ['2000::/3'];

/** Special-purpose ranges within it. */
const FORBIDDEN_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries an IPv4 address
  '3fff::/20', // documentation
];

// One list per family: node's BlockList matches IPv4 against IPv4-mapped rules, which would make ::/0 mean everything.
const forbiddenIpv4 = listOf(FORBIDDEN_IPV4, 'ipv4');
const forbiddenIpv6 = listOf(FORBIDDEN_IPV6, 'ipv6');
const globalIpv6 = listOf(GLOBAL_IPV6, 'ipv6');

/** Whether an IP address (not a name, no brackets) is a target nobody outside this network could mean. */
export function isForbiddenAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return forbiddenIpv4.check(address, 'ipv4');
    case 6:
      // IPv4-mapped, NAT64, unique local, link-local, site-local, loopback and multicast all lie outside 2000::/3.
      return !globalIpv6.check(address, 'ipv6') || forbiddenIpv6.check(address, 'ipv6');
    default:
      return true;
  }
}

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
