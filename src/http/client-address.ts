import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;
/**
 * Where IPv6 addresses of these ranges hold the IPv4 address of their owner. Its owner has 65,536 networks of 6to4
 * (RFC 3056), and a /64 as good as every one of Teredo's servers can give (RFC 4380). Everybody who arrives through a
 * translator (RFC 6052, RFC 7915, RFC 8215) shares one /64.
 */
const IPV4_AT_BYTE: Readonly<Record<string, number>> = { '6to4': 2, teredo: 12, rfc6052: 12, rfc6145: 12 };
/** Teredo inverts the bits, so that no translator on the way rewrites the address. */
const INVERTED_RANGE = 'teredo';
/** An address as some proxies pass it on, with the port of the connection: 192.0.2.1:80, [2001:db8::1]:80. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/i;
/** Whoever cannot be told from others; a trusted proxy that passes on anything but addresses has this alone. */
const UNKNOWN = 'unknown';

const clients = new WeakMap<FastifyRequest, string>();

/** The client of a request; connections.ts sees to it that it is known also after the connection is gone. */
export function clientOf(request: FastifyRequest): string {
  let client = clients.get(request);
  if (client === undefined) {
    client = clientKey(request.ip);
    clients.set(request, client);
  }
  return client;
}

/**
 * What tells clients apart: an IPv4 address, or the /64 of an IPv6 address, because a single customer is
 * given at least that many. An IPv6 address that stands for an IPv4 address (mapped, translated, 6to4, Teredo) is
 * that IPv4 address. What is no address at all shares one key, so that neither the length nor the number of keys is
 * up to whoever sends it.
 * @param address as Fastify sees it, behind the proxies that are trusted
 */
export function clientKey(address: string | undefined): string {
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
  const network = parsed.toByteArray().fill(0, IPV6_NETWORK_BYTES);
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
