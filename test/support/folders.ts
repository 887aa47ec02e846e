import { rmSync } from 'node:fs'
import { afterAll, onTestFinished } from 'vitest'
import { temporaryFolder } from './run-server.ts'

/** A folder for all tests of a file or a group, which goes after the last of them. */
export const sharedFolder = () => removedBy(afterAll)

/** A folder of one test, which goes when it has finished. */
export const folderOfTest = () => removedBy(onTestFinished)

function removedBy(hook: (remove: () => void) => void): string {
  const folder = temporaryFolder()
  hook(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
