import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CodedError, errorBody } from '../../engine/errors.js';
import { isDocumentRoute } from './request-body.js';
import { expectedErrorOf, internalError } from './error-of.js';

/** Default Retry-After of a 503. */
const DEFAULT_RETRY_AFTER_S = 1;

/** Statuses of faults in a body. */
const BODY_STATUSES: readonly number[] = [400, 413, 415, 422];

/**
 * Turns exceptions of hooks and routes into error responses. server.ts and connections.ts handle failures before the
 * hooks.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #log = new Logger(ErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { id, routeOptions } = reply.request;
    const found = expectedErrorOf(thrown, routeOptions.bodyLimit) ?? internalError(thrown);
    const error = isDocumentRoute(routeOptions.config) ? withPath(found) : found;
    if (error.code === 'INTERNAL' && !isOfGoneClient(thrown, reply)) {
      const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      this.#log.error(`Request ${id} failed: ${detail}`);
    }
    if (reply.sent) return;
    const retryAfterS = error.retryAfterS ?? (error.status === 503 ? DEFAULT_RETRY_AFTER_S : undefined);
    if (retryAfterS !== undefined) reply.header('retry-after', retryAfterS);
    reply.code(error.status).header('cache-control', 'no-store').send(errorBody(error));
  }
}

/** Codes of a stream whose reader has left, which is no failure. */
const CODES_OF_LEAVING: readonly unknown[] = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'EPIPE'];

function isOfGoneClient(thrown: unknown, { request }: FastifyReply): boolean {
  return (
    request.raw.socket.destroyed && CODES_OF_LEAVING.includes((thrown as { code?: unknown } | null)?.code)
  );
}

/** Adds the path of the whole document to faults that were found before the document was parsed. */
function withPath(error: CodedError): CodedError {
  if (error.path !== undefined || !BODY_STATUSES.includes(error.status)) return error;
  return new CodedError(error.code, error.message, { cause: error, path: '' });
}
