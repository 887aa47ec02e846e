import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../..')
/** What a server reads without importing it. */
const shared = ['clients', 'docs', 'node_modules', 'stubs', 'wsdl', 'CHANGELOG.md']

interface MigrationFiles {
  readonly migration: string
  readonly slices?: string
}

interface Modules {
  'foundation/database/client.ts': typeof import('../../src/foundation/database/client.ts')
  'foundation/database/migration.ts': typeof import('../../src/foundation/database/migration.ts')
  'foundation/database/migrations.ts': typeof import('../../src/foundation/database/migrations.ts')
  'foundation/database/outage.ts': typeof import('../../src/foundation/database/outage.ts')
  'foundation/database/slices.ts': typeof import('../../src/foundation/database/slices.ts')
  'operations/installation/upgrade-plan.ts': typeof import('../../src/operations/installation/upgrade-plan.ts')
  'operations/installation/upgrades.ts': typeof import('../../src/operations/installation/upgrades.ts')
}

export interface Tree {
  readonly tree: URL
  readonly remove: () => void
}

/** A tree like this one, as another version of it would be: with its number, and migrations of its own behind those of this one. */
export interface OtherVersion extends Tree {
  readonly load: <Path extends keyof Modules>(path: Path) => Promise<Modules[Path]>
}

/** Makes the tree of another version; `added`: the files of its own migrations, by name. */
export function otherVersion(version: string, added: Readonly<Record<string, MigrationFiles>>): OtherVersion {
  const { folder, tree, remove } = newTree()
  for (const name of shared) symlinkSync(join(root, name), join(folder, name))
  for (const name of ['src', 'prisma', 'tsconfig.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  const described = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...described, version }))
  for (const [name, { migration, slices }] of Object.entries(added)) {
    const its = join(folder, 'prisma/migrations', name)
    mkdirSync(its)
    writeFileSync(join(its, 'migration.sql'), migration)
    if (slices !== undefined) writeFileSync(join(its, 'slices.sql'), slices)
  }
  return { tree, load: (path) => import(new URL(`src/${path}`, tree).href), remove }
}

/** The last commit whose servers call themselves nothing: they are of the version before 0.3.0. */
export const BEFORE = '86bbeff5'

/** The tree of a commit, with the packages of this one. Null where the history lacks it, as in a shallow clone. */
export function committedVersion(commit: string): Tree | null {
  const { folder, tree, remove } = newTree()
  try {
    execFileSync('git', ['archive', `--output=${folder}/tree.tar`, commit], { cwd: root, stdio: 'ignore' })
  } catch {
    remove()
    return null
  }
  execFileSync('tar', ['-xf', 'tree.tar'], { cwd: folder })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { tree, remove }
}

function newTree(): Tree & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'version-'))
  return { folder, tree: pathToFileURL(`${folder}/`), remove: () => rmSync(folder, { recursive: true }) }
}
