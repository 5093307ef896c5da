import { type INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

export const DOCS_PATH = 'docs';

/** The description of the API as a page to read and to try it; its files come from the package, not the web. */
export function serveSwaggerUi(app: INestApplication, document: OpenAPIObject): void {
  SwaggerModule.setup(DOCS_PATH, app, document, {
    customSiteTitle: `${document.info.title} API`,
    // The document has its own address; no second copy under another.
    raw: false,
    swaggerOptions: { validatorUrl: 'none', tryItOutEnabled: true, displayRequestDuration: true },
  });
}
