import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;

/**
 * What tells clients apart: an IPv4 address, or the /64 of an IPv6 address, because a single customer is
 * given at least that many. An IPv4 address in IPv6 clothes is the IPv4 address.
 * @param address as Fastify sees it, behind the proxies that are trusted
 */
export function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().fill(0, IPV6_NETWORK_BYTES);
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
