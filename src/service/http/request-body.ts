import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, describeValue } from '../../engine/errors.js';
import { parseJson, refuseRepeatedMember } from '../../engine/schema/json-text.js';

/** The grammar of a media type: RFC 9110, sections 5.6.2, 5.6.4, 5.6.6 and 8.3.1. */
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const VALUE = `(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`;
/**
 * Only one part of the pattern matches blanks before a semicolon, and one those before a parameter. If two parts
 * could match them, each semicolon would double the time to refuse a header.
 */
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:[ \\t]*;(?:[ \\t]*${TOKEN}=${VALUE})?)*)[ \\t]*$`);
const PARAMETER = new RegExp(`;[ \\t]*(${TOKEN})=(${VALUE})`, 'g');

/**
 * Config of a route whose body is a document: a larger limit, passed on as text, with paths in failures and no
 * repeated members.
 */
export const DOCUMENT_ROUTE = { isDocumentRoute: true } as const;

export function isDocumentRoute(config: object | undefined): boolean {
  return config !== undefined && 'isDocumentRoute' in config;
}

/** Config of another route whose body must not repeat a member. */
export const EACH_MEMBER_ONCE = { hasEachMemberOnce: true } as const;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Installs the only body parser, for every declared type. An empty body means all defaults; any other body must be
 * JSON in UTF-8. A byte order mark is skipped. A document stays text, because another thread parses it.
 */
export function acceptJsonBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    try {
      const { headers, routeOptions } = request;
      const text = textOf(headers['content-type'], body);
      const isParsedLater = isDocumentRoute(routeOptions.config);
      const parsed = text === undefined || isParsedLater ? text : parseJson(text);
      if (text !== undefined && 'hasEachMemberOnce' in routeOptions.config)
        refuseRepeatedMember(text, 'The body');
      done(null, parsed);
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * @returns undefined for an empty body
 * @throws CodedError UNSUPPORTED_MEDIA_TYPE, MALFORMED_REQUEST
 */
function textOf(contentType: string | undefined, body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  if (contentType === undefined || !isJsonInUtf8(contentType)) {
    throw new CodedError(
      'UNSUPPORTED_MEDIA_TYPE',
      contentType === undefined
        ? 'Content-Type is missing; send application/json.'
        : `Content-Type must be application/json in UTF-8, got ${describeValue(contentType)}.`,
    );
  }
  try {
    return decoder.decode(body);
  } catch (error) {
    throw new CodedError('MALFORMED_REQUEST', 'The body is not valid UTF-8.', { cause: error });
  }
}

/** Parses the whole header, because a skipped part could name another charset. */
function isJsonInUtf8(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [, type = '', parameters = ''] = MEDIA_TYPE.exec(contentType) ?? [];
  const charsets = [...parameters.matchAll(PARAMETER)]
    .filter(([, name]) => /^charset(\*|$)/i.test(name!))
    .map(([, , value]) => value!.replace(/^"(.*)"$/, '$1').toLowerCase());
  // RFC 6838, section 4.3 calls two charsets an error and does not say which one counts.
  return (
    type.toLowerCase() === 'application/json' &&
    charsets.length <= 1 &&
    charsets.every((charset) => ['utf-8', 'utf8'].includes(charset))
  );
}

/** @throws CodedError UNSUPPORTED_MEDIA_TYPE for a compressed body */
export function refuseCompressedBodies(request: FastifyRequest, reply: FastifyReply): void {
  const { 'content-encoding': encoding, 'transfer-encoding': transfer } = request.headers;
  // Node decodes only chunked and would pass on a body that is still compressed.
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    // Unless chunked comes last, the boundary between this body and the next request is unknown.
    reply.header('connection', 'close');
    throw new CodedError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Transfer-Encoding must be chunked or absent, got ${describeValue(transfer)}.`,
    );
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new CodedError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Content-Encoding must be absent: compressed bodies are not accepted, got ${describeValue(encoding)}.`,
    );
  }
}
