import { visitEmbedded } from '../foundation/embedded/embedded.ts'
import type { Config } from '../foundation/process/settings.ts'

/**
 * Finds the database of the settings, past a pooler, whether the server runs or not. Call `stop` after the last use. Throws
 * `StartupError` where none is named and the data folder has none.
 */
export async function visitDatabase({
  databaseDirectUrl,
  dataDir,
}: Pick<Config, 'databaseDirectUrl' | 'dataDir'>): Promise<{ url: string; stop: () => Promise<void> }> {
  return databaseDirectUrl === null ? visitEmbedded(dataDir) : { url: databaseDirectUrl, stop: async () => {} }
}
