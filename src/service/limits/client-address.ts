import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { getOrInsert } from '../../engine/get-or-insert.js';

/** Prefix that identifies a client. Providers assign at least a /64 to each customer. */
const CLIENT_BITS = 64;
/**
 * Prefix of a site: the largest network that providers usually assign (RFC 6177). Its owner could appear as 65,536
 * clients.
 */
const SITE_BITS = 48;
/**
 * Offset of the IPv4 address that these kinds of IPv6 addresses embed. Without it, one 6to4 host could use 65,536
 * networks (RFC 3056), and one Teredo host a /64 of every Teredo server (RFC 4380). All clients of a translator (RFC
 * 6052, RFC 7915, RFC 8215) would share one /64.
 */
const IPV4_AT_BYTE: Readonly<Record<string, number>> = { '6to4': 2, teredo: 12, rfc6052: 12, rfc6145: 12 };
/** Teredo inverts the bits of the address, so that no translator on the way rewrites it. */
const INVERTED_RANGE = 'teredo';
/** An address with a port, as some proxies send it: 192.0.2.1:80, [2001:db8::1]:80. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/i;
/** Key of all clients without a valid address, for example if a trusted proxy sends none. */
const UNKNOWN = 'unknown';

const keys = new WeakMap<FastifyRequest, { readonly client: string; readonly site: string }>();

/** Returns the client of a request. connections.ts makes it available even after the connection has closed. */
export function clientOf(request: FastifyRequest): string {
  return keysOf(request).client;
}

/**
 * Returns the site of a request, to which shared resources are counted: its client, or the /48 of an IPv6 address.
 */
export function siteOf(request: FastifyRequest): string {
  return keysOf(request).site;
}

function keysOf(request: FastifyRequest) {
  return getOrInsert(keys, request, ({ ip }) => ({ client: clientKey(ip), site: siteKey(ip) }));
}

/** Returns the key of the site of an address; see siteOf. */
export function siteKey(address: string | undefined): string {
  return clientKey(address, SITE_BITS);
}

/**
 * Returns the key of a client: an IPv4 address, or a prefix of an IPv6 address. If an IPv6 address embeds an IPv4
 * address (mapped, translated, 6to4, Teredo), the key is that IPv4 address. All other values share one key, so
 * clients control neither the length nor the number of keys.
 * @param address as Fastify determines it from the trusted proxies
 * @param ipv6Bits length of the prefix, in whole bytes
 */
export function clientKey(address: string | undefined, ipv6Bits = CLIENT_BITS): string {
  // Shortcut for most addresses: parsing one takes as long as a cache lookup.
  if (address !== undefined && isIPv4(address)) return address;
  const [, bracketed, ipv4] = WITH_PORT.exec(address ?? '') ?? [];
  const bare = bracketed ?? ipv4 ?? address ?? '';
  if (!ipaddr.isValid(bare)) return UNKNOWN;
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const ipv4Byte = IPV4_AT_BYTE[parsed.range()];
  if (ipv4Byte !== undefined) {
    const mask = parsed.range() === INVERTED_RANGE ? 0xff : 0;
    const bytes = parsed.toByteArray().slice(ipv4Byte, ipv4Byte + 4);
    return bytes.map((byte) => byte ^ mask).join('.');
  }
  const network = parsed.toByteArray().fill(0, ipv6Bits / 8);
  return `${ipaddr.fromByteArray(network).toString()}/${ipv6Bits}`;
}
