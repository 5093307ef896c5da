import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../config/environment.js';
import { CodedError, describeValue } from '../errors.js';
import { publicAddress, SAME_ORIGIN } from '../http/public-address.js';
import type { StaticBody } from '../http/static-body.js';
import { PageFiles, type PageName } from './page-files.js';

/** Stricter than what holds for the rest of the service: nothing inline, nothing from anywhere else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

@ApiExcludeController()
@Controller()
export class DashboardController {
  constructor(
    private readonly files: PageFiles,
    private readonly environment: Environment,
  ) {}

  @Get()
  brain(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#sendPage('index', request, reply);
  }

  @Get('laboratory')
  laboratory(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#sendPage('laboratory', request, reply);
  }

  @Get('assets/:file')
  asset(@Param('file') file: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const asset = this.files.assets.get(file);
    if (asset === undefined)
      throw new CodedError('NOT_FOUND', `The page has no file ${describeValue(file)}.`);
    this.#send(asset, request, reply);
  }

  #sendPage(page: PageName, request: FastifyRequest, reply: FastifyReply): void {
    const address = publicAddress(request, this.environment.PUBLIC_URL);
    const document = this.files.documentAt(page, address === SAME_ORIGIN ? '' : address);
    if (document === undefined) {
      throw new CodedError(
        'NOT_FOUND',
        'The page was not built; npm run build does it. The API is at /api/v1.',
      );
    }
    this.#send(document, request, reply);
  }

  #send(body: StaticBody, request: FastifyRequest, reply: FastifyReply): void {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    body.send(request, reply);
  }
}
