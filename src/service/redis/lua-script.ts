import { readFileSync } from 'node:fs';

/** A line that is replaced by another script of the same folder, named without its extension. */
const INCLUDE = /^--- @include "([\w-]+)"$/gm;

/** Reads a Lua script for Redis and inserts its includes. The build copies the scripts next to the compiled code. */
export function luaScript(file: URL): string {
  return readFileSync(file, 'utf8').replace(INCLUDE, (_, name: string) =>
    luaScript(new URL(`${name}.lua`, file)),
  );
}
