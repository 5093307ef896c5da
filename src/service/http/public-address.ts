import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Stands for the origin that the reader asked, where nothing better is known. */
export const SAME_ORIGIN = '/';
const LONGEST_NAME = 253;
/** A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port. */
const HOST = /^(?:([a-z\d_-]+(?:\.[a-z\d_-]+)*\.?)|\[([\da-f:.]+)\])(?::(\d{1,5}))?$/i;

/**
 * The base URL that a client used, without a slash at its end. Behind a trusted proxy it is what that proxy says in
 * X-Forwarded-Host and X-Forwarded-Proto, elsewhere Host. Anybody can write a Host header, so what is not plainly
 * a host is not repeated.
 * @param publicUrl as in PUBLIC_URL; decides where it is not empty
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
  return name === undefined ? isIPv6(ipv6!) : name.length <= LONGEST_NAME;
}
