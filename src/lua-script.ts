import { readFileSync } from 'node:fs';

/** A line that another script of the same folder takes the place of, without the extension of its name. */
const INCLUDE = /^--- @include "([\w-]+)"$/gm;

/** Reads a Lua script for Redis, with all that it includes. The build copies these files beside the compiled ones. */
export function luaScript(file: URL): string {
  return readFileSync(file, 'utf8').replace(INCLUDE, (_, name: string) =>
    luaScript(new URL(`${name}.lua`, file)),
  );
}
