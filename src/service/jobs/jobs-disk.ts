/** The folder in which one process stores its jobs: a LevelDB, which no second process can open. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import type { ClassicLevel } from 'classic-level';
import { CodedError } from '../../engine/errors.js';
import { ClientLines } from '../../workers/queue/client-shares.js';

export type Level = ClassicLevel<string, Buffer>;

/** Version of the keys and values. A change that older code cannot read needs a new one. */
const STORE_VERSION = '1';
const VERSION_KEY = 'version';
/** Interval of attempts to open the store again. */
const RETRY_EVERY_MS = 5_000;
const RETRY_AFTER_S = 5;
/** A full disk needs this much room before the store is opened again: LevelDB then writes its log into a table. */
const ROOM_BYTES = 8 * 1024 * 1024;

/** A reason why jobs are refused, and advice for operators. Neither names a path, because clients read them. */
type Outage = readonly [why: string, advice: string];

/** Outages by the codes and messages of their errors. */
const OUTAGES: readonly (readonly [RegExp, ...Outage])[] = [
  [/LEVEL_LOCKED/, 'another process uses the store of jobs', 'Give each service a JOBS_PATH of its own.'],
  [/No space left|ENOSPC|quota|EDQUOT/, 'the disk of the store of jobs is full', 'Make room on it.'],
  [
    /Read-only|EROFS|Permission denied|EACCES|EPERM|ENOENT|ENOTDIR|EEXIST/,
    'the store of jobs cannot be written',
    'Set JOBS_PATH to a folder that the service may write to.',
  ],
  [/LEVEL_CORRUPTION|SyntaxError/, 'the store of jobs is damaged', 'Set JOBS_PATH to another folder.'],
];
const CLOSED: Outage = ['the store of jobs is not open', 'Read the log for the reason.'];

class OtherVersion extends Error {}

export interface DiskListener {
  /** @param reason may be published: it names no path */
  readonly onAway: (reason: string) => void;
  /** Called each time the store was opened. */
  readonly onOpen: () => void;
}

/** Opens the store, and opens it again after a failure. While it cannot be opened, jobs get JOBS_UNAVAILABLE. */
export class JobsDisk {
  readonly #log = new Logger('jobs');
  /** Stays open for reading if only a write failed. */
  #level: Level | undefined;
  #outage: Outage | undefined = CLOSED;
  /** Changes wait for each other, because each reads before it writes. */
  readonly #changes = new ClientLines();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    private readonly path: string,
    private readonly listener: DiskListener,
    private readonly retryEveryMs = RETRY_EVERY_MS,
  ) {}

  /**
   * Opens the store, or tries again every few seconds.
   * @param load reads the content of the opened store; called again after each failure
   */
  open(load: (level: Level) => Promise<void>): Promise<void> {
    this.#timer = setInterval(() => void this.#tryToOpen(load), this.retryEveryMs).unref();
    return this.#tryToOpen(load);
  }

  /** @throws CodedError JOBS_UNAVAILABLE, or an error of the function */
  async read<T>(ask: (level: Level) => Promise<T>): Promise<T> {
    if (this.#level === undefined) throw refused(this.#outage ?? CLOSED);
    try {
      return await ask(this.#level);
    } catch (error) {
      if (!isOfLevel(error)) throw error;
      throw refused(outageOf(error), error);
    }
  }

  /**
   * Runs a function that writes, after all earlier ones.
   * @throws CodedError JOBS_UNAVAILABLE, or an error of the function
   */
  change<T>(write: (level: Level) => Promise<T>): Promise<T> {
    return this.#afterChanges(async () => {
      if (this.#level === undefined || this.#outage !== undefined) throw refused(this.#outage ?? CLOSED);
      try {
        return await write(this.#level);
      } catch (error) {
        if (!isOfLevel(error)) throw error;
        // The log may end in half a record, after which LevelDB would lose others: write nothing more to it.
        throw refused(this.#leave(error), error);
      }
    });
  }

  /** Resolves when the last change is written. */
  close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    return this.#afterChanges(() => this.#close());
  }

  #tryToOpen(load: (level: Level) => Promise<void>): Promise<void> {
    return this.#afterChanges(async () => {
      if (this.#outage === undefined || this.#isClosed) return;
      try {
        // An open store can be read, so it is closed only if there is room to open it again.
        if (this.#level !== undefined) await this.#tryToWrite();
        await this.#close();
        await this.#open(load);
        this.#outage = undefined;
        this.listener.onOpen();
      } catch (error) {
        this.#leave(error);
      }
    });
  }

  async #open(load: (level: Level) => Promise<void>): Promise<void> {
    // Not recursive: in /proc that never ends.
    await mkdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    // A platform without a compiled LevelDB still has version 1.
    const { ClassicLevel } = await import('classic-level');
    const level: Level = new ClassicLevel(this.path, { valueEncoding: 'buffer' });
    try {
      await level.open();
      await claim(level);
      await load(level);
    } catch (error) {
      await level.close();
      throw error;
    }
    this.#level = level;
  }

  async #close(): Promise<void> {
    const level = this.#level;
    this.#level = undefined;
    await level?.close();
  }

  async #tryToWrite(): Promise<void> {
    const file = join(this.path, 'room');
    try {
      await writeFile(file, Buffer.alloc(ROOM_BYTES), { flush: true });
    } finally {
      await rm(file, { force: true });
    }
  }

  #leave(error: unknown): Outage {
    const outage = outageOf(error);
    const [why, advice] = outage;
    if (why !== this.#outage?.[0]) {
      this.#log.warn(`The store of jobs in ${this.path}: ${describe(error)}`);
    }
    this.#outage = outage;
    this.listener.onAway(`Jobs are refused: ${why}. ${advice}`);
    return outage;
  }

  #afterChanges<T>(run: () => Promise<T>): Promise<T> {
    return this.#changes.afterOthers('', run);
  }
}

/** Checks that the store is one of this version, and that it can be written. */
async function claim(level: Level): Promise<void> {
  const version = (await level.get(VERSION_KEY))?.toString();
  const isEmpty = (await level.keys({ limit: 1 }).all()).length === 0;
  if (version !== STORE_VERSION && !isEmpty) {
    throw new OtherVersion(`it has version ${version ?? 'none'}, not ${STORE_VERSION}`);
  }
  await level.put(VERSION_KEY, Buffer.from(STORE_VERSION), { sync: true });
}

function isOfLevel(error: unknown): boolean {
  return /^LEVEL_/.test(String((error as NodeJS.ErrnoException | undefined)?.code));
}

/** The error with its causes, from which LevelDB's message comes. */
function describe(error: unknown): string {
  const { name, code, message, cause } = error as NodeJS.ErrnoException;
  return [code ?? name, message, ...(cause === undefined ? [] : [describe(cause)])].join(': ');
}

function outageOf(error: unknown): Outage {
  if (error instanceof OtherVersion) {
    const why = `the store of jobs was written by another version of the service: ${error.message}`;
    return [why, 'Set JOBS_PATH to another folder.'];
  }
  const text = describe(error);
  const [, ...known] = OUTAGES.find(([pattern]) => pattern.test(text)) ?? [undefined, ...CLOSED];
  return known;
}

function refused([why]: Outage, cause?: unknown): CodedError {
  return new CodedError('JOBS_UNAVAILABLE', `Jobs are refused: ${why}.`, {
    cause,
    retryAfterS: RETRY_AFTER_S,
  });
}
