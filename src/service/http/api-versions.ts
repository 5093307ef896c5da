import { type VersioningOptions, VersioningType } from '@nestjs/common';

/** All served versions of the API. A controller names its version. */
export const API_VERSIONS = ['1', '2'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

const PREFIX = 'api/v';
/** Controllers without a version stay at the root. */
export const VERSIONING: VersioningOptions = { type: VersioningType.URI, prefix: PREFIX };

/** The path of a resource, such as /api/v1/run. */
export function apiPath(version: ApiVersion, resource: string): string {
  return `/${PREFIX}${version}/${resource}`;
}
