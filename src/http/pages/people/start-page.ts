import { basename, join } from 'node:path'
import { sandboxPath } from '../../../foundation/process/data-folder.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import { programVersion } from '../../../foundation/process/version.ts'
import { sandboxAddresses } from '../../../operations/sandbox/create.ts'
import type { HtmlPage } from '../../html/page.ts'

export type StartPageServices = { readonly config: Pick<Config, 'publicUrl' | 'sandbox' | 'dataDir'> }

/** The page that leads to all others. It is for anyone, so it names where the passwords of a sandbox are, and none of them. */
export function startPage({ config }: StartPageServices): HtmlPage {
  const { host } = new URL(config.publicUrl)
  const { dataDir } = config
  const sandbox = config.sandbox && {
    ...sandboxAddresses,
    // Strangers need not know where the folder lies.
    file: join(basename(dataDir), basename(sandboxPath(dataDir))),
  }
  const data = { host, sandbox, program: `store-platform ${programVersion}` }
  return { template: '/pages/people/start-page', title: host, data }
}
