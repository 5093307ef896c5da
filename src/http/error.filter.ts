import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expectedErrorOf, internalError } from './error-of.js';
import { ErrorResponse } from './error-response.dto.js';

/** What a client waits after a 503 that says nothing more precise. */
const DEFAULT_RETRY_AFTER_S = 1;

/** Turns whatever was thrown, by whatever layer, into the one shape of a failure. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #log = new Logger(ErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { id, routeOptions } = host.switchToHttp().getRequest<FastifyRequest>();
    const error = expectedErrorOf(thrown, routeOptions.bodyLimit) ?? internalError(thrown);
    if (error.code === 'INTERNAL') {
      const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      this.#log.error(`Request ${id} failed: ${detail}`);
    }
    if (reply.sent) return;
    const retryAfterS = error.retryAfterS ?? (error.status === 503 ? DEFAULT_RETRY_AFTER_S : undefined);
    if (retryAfterS !== undefined) reply.header('retry-after', retryAfterS);
    reply.code(error.status).header('cache-control', 'no-store').send(new ErrorResponse(error));
  }
}
