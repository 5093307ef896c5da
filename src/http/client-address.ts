import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;
/** An address as some proxies pass it on, with the port of the connection: 192.0.2.1:80, [2001:db8::1]:80. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/i;
/** Whoever cannot be told from others; a trusted proxy that passes on anything but addresses has this alone. */
const UNKNOWN = 'unknown';

const clients = new WeakMap<FastifyRequest, string>();

/** The client of a request. Asked at its arrival first: a connection that is gone has no address any more. */
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
 * given at least that many. An IPv4 address in IPv6 clothes is the IPv4 address. What is no address at all
 * shares one key, so that neither the length nor the number of keys is up to whoever sends it.
 * @param address as Fastify sees it, behind the proxies that are trusted
 */
export function clientKey(address: string | undefined): string {
  const [, bracketed, ipv4] = WITH_PORT.exec(address ?? '') ?? [];
  const bare = bracketed ?? ipv4 ?? address ?? '';
  if (!ipaddr.isValid(bare)) return UNKNOWN;
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().fill(0, IPV6_NETWORK_BYTES);
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
