import { readFileSync } from 'node:fs'

/** The version of this program, such as `0.3.0`. */
export const { version: programVersion } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }
