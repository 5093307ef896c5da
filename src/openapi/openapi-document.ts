import { type INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

export const API_VERSION = '1.0.0';

/** The description of the public endpoints, generated from the code. The same for every instance. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Neural Experiment Service')
    .setVersion(API_VERSION)
    .addServer('/')
    .build();
  return SwaggerModule.createDocument(app, config);
}
