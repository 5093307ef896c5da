import { readEnvironment } from '../config/environment.js';
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admission, ArrivingDocuments, LeavingAnswers } from './admission.js';
import { DOCUMENT_LIMIT_BYTES, Limits } from './limits.js';

it('derives limits from those that are given, and keeps those that are given', () => {
  const environment = readEnvironment({ EXPERIMENTS_AT_ONCE: '8' });
  const { waitingDocuments, waitingDocumentsPerClient } = new Limits(environment, {
    experimentsPerClient: 3,
  });
  expect([waitingDocuments, waitingDocumentsPerClient]).toEqual([64, 24]);
  expect(new Limits(environment, { waitingDocuments: 5 }).waitingDocuments).toBe(5);
});

it('keeps the last quarter of the slots for clients that have none', () => {
  const environment = readEnvironment({ EXPERIMENTS_AT_ONCE: '8' });
  const admission = new Admission(environment, new Limits(environment, { experimentsPerClient: 3 }));
  const leaving = ['a', 'a', 'a', 'b', 'b', 'b'].map((client) => admission.admit(client));
  expect(() => admission.admit('a')).toThrow('3 experiments of this client are under way');
  admission.admit('c');
  expect(() => admission.admit('c')).toThrow('The queue is full: 7 experiments are under way');
  admission.admit('d');
  expect(() => admission.admit('e')).toThrow('The queue is full: 8 experiments are under way');
  for (const leave of leaving) leave();
  admission.admit('c');
  expect(admission.underWay).toBe(3);
});

it('keeps the last quarter of the memory of arriving documents for clients that have none', () => {
  const documents = new ArrivingDocuments();
  const begin = (ip: string) => {
    const raw = new EventEmitter();
    const headers = { 'content-length': String(DOCUMENT_LIMIT_BYTES) };
    documents.admit({ ip, headers, raw } as unknown as FastifyRequest, { raw } as unknown as FastifyReply);
  };
  for (let client = 0; client < 24; client++) {
    for (let document = 0; document < 8; document++) begin(`192.0.2.${client}`);
  }
  begin('198.51.100.0');
  expect(() => begin('198.51.100.0')).toThrow('too many documents are arriving');
  for (let client = 1; client < 64; client++) begin(`198.51.100.${client}`);
  expect(() => begin('203.0.113.1')).toThrow('too many documents are arriving');
});

it('counts the bytes of answers that are not read, of a client and of all, a shared buffer once, a text each time', () => {
  const answers = new LeavingAnswers();
  const begin = (ip: string, payload: unknown) => {
    const raw = Object.assign(new EventEmitter(), { closed: false });
    const reply = { raw, header: () => undefined } as unknown as FastifyReply;
    answers.admit({ ip } as FastifyRequest, reply, payload, () => undefined);
    return () => raw.emit('close');
  };
  const shared = new Uint8Array(2 ** 20);
  const leaving = Array.from({ length: 63 }, () => begin('192.0.2.1', new Uint8Array(2 ** 20)));
  for (let at = 0; at < 100; at++) leaving.push(begin('192.0.2.1', shared));
  expect(() => begin('192.0.2.1', new Uint8Array(2 ** 20))).toThrow(
    'too many answers of this client are not read',
  );
  begin('192.0.2.1', 'short');
  const texts = Array.from({ length: 64 }, () => begin('198.51.100.1', 'x'.repeat(2 ** 20)));
  expect(() => begin('198.51.100.1', 'x'.repeat(2 ** 20))).toThrow('too many answers of this client');
  for (const leave of texts) leave();
  // Two bytes for each character of a Greek text, three for each of a Chinese one.
  const greek = 'α'.repeat(2 ** 20);
  const longer = Array.from({ length: 32 }, () => begin('198.51.100.1', greek));
  expect(() => begin('198.51.100.1', '中'.repeat(6_000))).toThrow('too many answers of this client');
  for (const leave of longer) leave();
  for (let at = 2; at < 4; at++) {
    leaving.push(...Array.from({ length: 64 }, () => begin(`192.0.2.${at}`, new Uint8Array(2 ** 20))));
  }
  // The last quarter is for clients that have none.
  leaving.push(begin('192.0.2.4', new Uint8Array(2 ** 20)));
  expect(() => begin('192.0.2.4', new Uint8Array(2 ** 20))).toThrow('too many answers are not read');
  // It adds nothing.
  leaving.push(begin('192.0.2.1', shared));
  for (let at = 5; at < 68; at++) leaving.push(begin(`192.0.2.${at}`, new Uint8Array(2 ** 20)));
  expect(() => begin('192.0.2.68', new Uint8Array(2 ** 20))).toThrow('too many answers are not read');
  for (const leave of leaving) leave();
  for (let at = 0; at < 64; at++) begin('192.0.2.1', new Uint8Array(2 ** 20));
});

it('sends large answers in pieces with their length, and of one client 64 KiB in a turn of the event loop', async () => {
  const answers = new LeavingAnswers();
  const headers: unknown[] = [];
  const pieces: Buffer[][] = [];
  let ended = 0;
  const text = 'abcdefghij'.repeat(15_000);
  for (const answer of [0, 1]) {
    const raw = Object.assign(new EventEmitter(), { closed: false });
    const reply = { raw, header: (...header: unknown[]) => headers.push(header) } as unknown as FastifyReply;
    answers.admit({ ip: '192.0.2.1' } as FastifyRequest, reply, text, (sent) => {
      pieces[answer] = [];
      (sent as Readable).on('data', (piece: Buffer) => pieces[answer]!.push(piece)).on('end', () => ended++);
    });
  }
  expect(headers).toEqual([
    ['content-length', text.length],
    ['content-length', text.length],
  ]);
  await setImmediate();
  const sentBytes = () => Buffer.concat(pieces.flat()).length;
  for (let sent = sentBytes(); ended < 2;) {
    await setImmediate();
    const now = sentBytes();
    expect(now - sent).toBeLessThanOrEqual(65_536);
    sent = now;
  }
  for (const each of pieces) {
    expect(each.map(({ length }) => length)).toEqual([65_536, 65_536, 18_928]);
    expect(String(Buffer.concat(each))).toBe(text);
  }
});
