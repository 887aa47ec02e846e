import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderOfTest } from '../../../support/folders.ts'

const project = fileURLToPath(new URL('../../../..', import.meta.url))
/** Without Prisma's command line this test is left out, unless REQUIRE_TOOLS says that it must be there. */
const hasTools = existsSync(join(project, 'tools/node_modules')) || process.env.REQUIRE_TOOLS === 'true'

test.runIf(hasTools)(
  'the committed Prisma client is that of prisma/schema.prisma; if not, run npm run generate',
  async () => {
    const folder = folderOfTest()
    const schema = join(folder, 'prisma/schema.prisma')
    await cp(join(project, 'prisma/schema.prisma'), schema)
    const args = ['run', '--silent', 'generate', '--', '--schema', schema]
    const { status, stderr } = spawnSync('npm', args, { cwd: project, encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const client = 'src/foundation/database/generated'
    expect(await differences(join(project, client), join(folder, client)), 'Run: npm run generate').toEqual([])
  },
)

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
