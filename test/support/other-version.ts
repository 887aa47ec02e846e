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

/** A tree like this one, as another version of it would be: with its number, and migrations of its own behind those of this one. */
export interface OtherVersion {
  readonly tree: URL
  readonly load: <Path extends keyof Modules>(path: Path) => Promise<Modules[Path]>
  readonly remove: () => void
}

/** Makes the tree of another version; `added`: the files of its own migrations, by name. */
export function otherVersion(version: string, added: Readonly<Record<string, MigrationFiles>>): OtherVersion {
  const folder = mkdtempSync(join(tmpdir(), 'version-'))
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
  const tree = pathToFileURL(`${folder}/`)
  return {
    tree,
    load: (path) => import(new URL(`src/${path}`, tree).href),
    remove: () => rmSync(folder, { recursive: true }),
  }
}
