import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientFolder, generateClient } from '../../../prisma/client-generator.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-platform-client-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the committed Prisma client is that of prisma/schema.prisma; if not, run npm run generate', async () => {
  const generated = join(folder, 'generated')
  await generateClient(generated)
  expect(await differences(clientFolder, generated), 'Run: npm run generate').toEqual([])
})

/** The files that only one folder has, or that differ. */
async function differences(left: string, right: string): Promise<string[]> {
  const [inLeft, inRight] = await Promise.all([filesIn(left), filesIn(right)])
  const paths = new Set([...inLeft.keys(), ...inRight.keys()])
  return [...paths].filter((path) => inLeft.get(path) !== inRight.get(path)).toSorted()
}

async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  return new Map(paths.map((path, index) => [path.slice(folder.length + 1), texts[index] ?? '']))
}
