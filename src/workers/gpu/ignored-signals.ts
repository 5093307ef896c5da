/**
 * Ignores the signals that a terminal or systemd sends to a whole group of processes. The service answers its runs after
 * such a signal, for which it may need the GPU, and then ends this process. Loaded first, because the rest takes long.
 */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
