import { isIPv4, Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { getOrInsert } from '../../get-or-insert.js';

/** Prefix that identifies a client: providers assign at least a /64 to each customer. */
const CLIENT_BITS = 64;
/** The largest network that providers assign as a rule (RFC 6177): whoever has one could be 65,536 clients. */
const SITE_BITS = 48;
/**
 * Offset of the IPv4 address that is embedded in IPv6 addresses of these ranges. By its IPv6 address alone, one 6to4
 * host could use 65,536 networks (RFC 3056) and one Teredo host a /64 of every Teredo server (RFC 4380), while all
 * clients behind a translator (RFC 6052, RFC 7915, RFC 8215) would share one /64.
 */
const IPV4_AT_BYTE: Readonly<Record<string, number>> = { '6to4': 2, teredo: 12, rfc6052: 12, rfc6145: 12 };
/** Teredo inverts the bits of the address, so that no translator rewrites it. */
const INVERTED_RANGE = 'teredo';
/** An address with the port of the connection, as some proxies send it: 192.0.2.1:80, [2001:db8::1]:80. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/i;
/** Shared by all clients without a valid address, for example behind a trusted proxy that does not send addresses. */
const UNKNOWN = 'unknown';

const keys = new WeakMap<FastifyRequest, { readonly client: string; readonly site: string }>();

/** The client of a request. connections.ts ensures that it is known even after the connection has closed. */
export function clientOf(request: FastifyRequest): string {
  return keysOf(request).client;
}

/** Site whose places and turns a request takes: its client, or all clients of its /48 where the address is an IPv6 one. */
export function siteOf(request: FastifyRequest): string {
  return keysOf(request).site;
}

/**
 * Tells whether the service sent this request itself, to be warm before anybody else asks (api/v1/warm-up.ts). Such a request
 * comes over no socket, so nobody else can send one. It is not counted, limited, logged or remembered.
 */
export function isWarmUp({ raw }: FastifyRequest): boolean {
  return !(raw.socket instanceof Socket);
}

function keysOf(request: FastifyRequest) {
  return getOrInsert(keys, request, ({ ip }) => ({ client: clientKey(ip), site: clientKey(ip, SITE_BITS) }));
}

/**
 * The key that identifies a client: an IPv4 address, or a prefix of an IPv6 address. An IPv6 address that embeds an IPv4
 * address (mapped, translated, 6to4, Teredo) gives that IPv4 address. All other values share one key, so that clients control neither the length nor the number of keys.
 * @param address as Fastify determines it, behind the trusted proxies
 * @param ipv6Bits of the prefix, whole bytes
 */
export function clientKey(address: string | undefined, ipv6Bits = CLIENT_BITS): string {
  // Most addresses are such, and reading one takes as long as a query of the cache.
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
