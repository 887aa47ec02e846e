import { StartupError } from '../../process/startup-error.ts'
import type { Source, SourceKeys } from './source.ts'

export async function openCartApiSource(
  _keys: SourceKeys,
  _options: { version: string; timeZone: string; say: (line: string) => void },
): Promise<Source> {
  throw new StartupError('not yet')
}
