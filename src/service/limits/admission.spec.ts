import { readEnvironment } from '../config/environment.js';
import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admission, LeavingAnswers } from './admission.js';
import { Limits } from './limits.js';

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

it('counts the bytes of answers that are not read, of a client and of all, a shared buffer once, a text each time', () => {
  const answers = new LeavingAnswers();
  const begin = (ip: string, payload: unknown) => {
    const raw = Object.assign(new EventEmitter(), { closed: false });
    void answers.admit({ ip } as FastifyRequest, { raw } as unknown as FastifyReply, payload);
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
  for (let at = 2; at < 5; at++) {
    leaving.push(...Array.from({ length: 64 }, () => begin(`192.0.2.${at}`, new Uint8Array(2 ** 20))));
  }
  expect(() => begin('192.0.2.9', new Uint8Array(2 ** 20))).toThrow('too many answers are not read');
  for (const leave of leaving) leave();
  for (let at = 0; at < 64; at++) begin('192.0.2.1', new Uint8Array(2 ** 20));
});
