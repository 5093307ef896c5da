import { createRequire } from 'node:module';

/**
 * Stands in for the entry of the package webgpu, which declares __dirname. That fails if Jest has turned it
 * into CommonJS. Tests take the binding that the entry would load.
 */
const { platform, arch } = process;
const build = platform === 'darwin' ? 'darwin-universal' : `${platform}-${arch}`;

export const { create } = createRequire(import.meta.url)(`webgpu/dist/${build}/dawn.node`) as {
  create: (options: string[]) => GPU;
};
