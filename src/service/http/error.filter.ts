import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CodedError } from '../../errors.js';
import { isDocumentRoute } from './request-body.js';
import { errorBody, expectedErrorOf, internalError } from './error-of.js';

/** Wait of a client after a 503 that says nothing more precise. */
const DEFAULT_RETRY_AFTER_S = 1;

/** Statuses of faults of a body. */
const BODY_STATUSES: readonly number[] = [400, 413, 415, 422];

/** Turns exceptions of hooks and routes into error responses; server.ts and connections.ts answer what no hook sees. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #log = new Logger(ErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { id, routeOptions } = reply.request;
    const found = expectedErrorOf(thrown, routeOptions.bodyLimit) ?? internalError(thrown);
    const error = isDocumentRoute(routeOptions.config) ? withPath(found) : found;
    if (error.code === 'INTERNAL') {
      const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      this.#log.error(`Request ${id} failed: ${detail}`);
    }
    if (reply.sent) return;
    const retryAfterS = error.retryAfterS ?? (error.status === 503 ? DEFAULT_RETRY_AFTER_S : undefined);
    if (retryAfterS !== undefined) reply.header('retry-after', retryAfterS);
    reply.code(error.status).header('cache-control', 'no-store').send(errorBody(error));
  }
}

/** Adds the path of the whole document to faults that were found before it was read. */
function withPath(error: CodedError): CodedError {
  if (error.path !== undefined || !BODY_STATUSES.includes(error.status)) return error;
  return new CodedError(error.code, error.message, { cause: error, path: '' });
}
