import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** A URL relative to the reader's origin, if nothing better is known. */
export const SAME_ORIGIN = '/';
const MAX_NAME_LENGTH = 253;
/** A name, an IPv4 address, or an IPv6 address in brackets; then an optional port. */
const HOST = /^(?:([a-z\d_-]+(?:\.[a-z\d_-]+)*\.?)|\[([\da-f:.]+)\])(?::(\d{1,5}))?$/i;
/** Header of a proxy that strips the beginning of paths, with that beginning. */
export const PREFIX_HEADER = 'x-forwarded-prefix';
const MAX_PREFIX_LENGTH = 255;
/** Segments without `//`, `.` and `..`, because these could lead to another host or to other paths of this one. */
const PREFIX = /^((?:\/(?!(?:\.|%2e){1,2}(?:\/|$))(?:[\w.~@:+-]|%[\da-f]{2})+)+)\/?$/i;

/**
 * Returns the base URL that a client used, without a final slash. A trusted proxy gives it in X-Forwarded-Host,
 * X-Forwarded-Proto and X-Forwarded-Prefix; otherwise it comes from Host. Anybody can write a Host header, so one that
 * is not clearly a host is not repeated.
 * @param publicUrl PUBLIC_URL; used if it is not empty
 */
export function publicAddress(request: FastifyRequest, publicUrl: string): string {
  if (publicUrl !== '') return publicUrl.replace(/\/+$/, '');
  const { protocol, host } = request;
  const prefix = publicPrefix(request);
  return (protocol === 'http' || protocol === 'https') && isHost(host)
    ? `${protocol}://${host}${prefix}`
    : prefix || SAME_ORIGIN;
}

/**
 * Returns the part of the client's path that a trusted proxy has stripped, without a final slash; empty if there is
 * none. server.ts removes the header of everybody else.
 */
export function publicPrefix({ headers }: FastifyRequest): string {
  // The last of several entries is that of the trusted proxy.
  const given = String(headers[PREFIX_HEADER] ?? '')
    .split(',')
    .at(-1)!
    .trim();
  return given.length > MAX_PREFIX_LENGTH ? '' : (PREFIX.exec(given)?.[1] ?? '');
}

function isHost(host: string): boolean {
  const [matched, name, ipv6, port] = HOST.exec(host) ?? [];
  if (matched === undefined) return false;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  return name === undefined ? isIPv6(ipv6!) : name.length <= MAX_NAME_LENGTH;
}
