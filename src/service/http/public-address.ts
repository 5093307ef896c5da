import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** A URL relative to the reader's origin, if nothing better is known. */
export const SAME_ORIGIN = '/';
const MAX_NAME_LENGTH = 253;
/** A name, an IPv4 address, or an IPv6 address in brackets; then an optional port. */
const HOST = /^(?:([a-z\d_-]+(?:\.[a-z\d_-]+)*\.?)|\[([\da-f:.]+)\])(?::(\d{1,5}))?$/i;

/**
 * Returns the base URL that a client used, without a final slash. A trusted proxy gives it in X-Forwarded-Host and
 * X-Forwarded-Proto; otherwise it comes from Host. Anybody can write a Host header, so one that is not clearly a host
 * is not repeated.
 * @param publicUrl PUBLIC_URL; used if it is not empty
 */
export function publicAddress({ protocol, host }: FastifyRequest, publicUrl: string): string {
  if (publicUrl !== '') return publicUrl.replace(/\/+$/, '');
  return (protocol === 'http' || protocol === 'https') && isHost(host)
    ? `${protocol}://${host}`
    : SAME_ORIGIN;
}

function isHost(host: string): boolean {
  const [matched, name, ipv6, port] = HOST.exec(host) ?? [];
  if (matched === undefined) return false;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  return name === undefined ? isIPv6(ipv6!) : name.length <= MAX_NAME_LENGTH;
}
