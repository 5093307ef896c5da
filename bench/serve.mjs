/**
 * Starts the service that its argument names, and sends its port to the parent process. With PORT=0 the service has a
 * port that nobody can take between its choice and its use.
 */
// The service reads the arguments of its process, too, and takes none.
const [main] = process.argv.splice(2);
// A benchmark that is killed leaves no service.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
const { app } = await import(main);
if (app) process.send(app.getHttpServer().address().port);
