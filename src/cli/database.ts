import { startEmbedded, visitEmbedded } from '../foundation/embedded/embedded.ts'
import type { Config } from '../foundation/process/settings.ts'

/**
 * Opens the database of the settings, past a pooler, whether the server runs or not. Throws `StartupError` where none is named and the
 * data folder has none; with `isMade`, makes that.
 */
export async function openDatabase(
  { databaseDirectUrl, dataDir }: Pick<Config, 'databaseDirectUrl' | 'dataDir'>,
  { isMade = false } = {},
): Promise<{ readonly url: string } & AsyncDisposable> {
  if (databaseDirectUrl !== null) return { url: databaseDirectUrl, [Symbol.asyncDispose]: async () => {} }
  const { url, stop } = await (isMade ? startEmbedded({ dataDir }) : visitEmbedded(dataDir))
  return { url, [Symbol.asyncDispose]: stop }
}
