/**
 * The connectome file that the service would serve, as CONNECTOME_FILE says or its default. The environment is imported
 * only when it is asked for: its check doubles the time to --help.
 */
export async function servedFile(): Promise<string> {
  const { readEnvironment } = await import('../config/environment.js');
  return readEnvironment(process.env).CONNECTOME_FILE;
}
