import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import type { SchemaEngine } from '@prisma/schema-engine-wasm'
import { adapterOf } from '../src/foundation/database/adapter.ts'
import { Pool } from '../src/foundation/database/pool.ts'

type EngineModule = typeof import('@prisma/schema-engine-wasm')

export const prismaFolder = fileURLToPath(new URL('.', import.meta.url))
const noFilters = { externalTables: [], externalEnums: [] }

/** The SQL that would bring the database at `url` to what schema.prisma says; empty when it is that already. */
export function schemaDiff(url: string): Promise<string> {
  return withEngine(url, async (engine, pool) => {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schemaFile()], configDir: prismaFolder },
      to: { tag: 'schemaDatamodel', files: [schemaFile()] },
      script: true,
      exitCode: null,
      filters: noFilters,
    })
    return withoutHandMade(stdout ?? '', await handMadeKeys(pool))
  })
}

/** What Prisma's own engine would still apply to the database at `url`, and what it finds wrong with its history. */
export function migrationHistory(url: string) {
  return withEngine(url, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList: migrationsList(),
      optInToShadowDatabase: false,
      filters: noFilters,
    }),
  )
}

async function withEngine<T>(url: string, work: (engine: SchemaEngine, pool: Pool) => Promise<T>): Promise<T> {
  loaded ??= loadEngine()
  const { SchemaEngine } = await loaded
  const pool = new Pool(url)
  const { path, content } = schemaFile()
  const connectToShadowDb = () => Promise.reject(new Error('There is no shadow database'))
  const adapter = bindMigrationAwareSqlAdapterFactory({ ...adapterOf(pool), connectToShadowDb })
  try {
    return await work(await SchemaEngine.new({ datamodels: [[path, content]] }, () => {}, adapter), pool)
  } finally {
    await pool.end()
  }
}

function schemaFile() {
  return { path: 'schema.prisma', content: readFileSync(`${prismaFolder}/schema.prisma`, 'utf8') }
}

function migrationsList() {
  const baseDir = `${prismaFolder}/migrations`
  const folders = readdirSync(baseDir, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: readFileSync(`${baseDir}/migration_lock.toml`, 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: folders.map(({ name }) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok' as const, value: readFileSync(`${baseDir}/${name}/migration.sql`, 'utf8') },
      },
    })),
  }
}

/**
 * Foreign keys that clear one column alone. The engine takes them for keys that clear every column and would make them
 * NO ACTION, as schema.prisma must call them; nothing else that migrations hold by hand shows in its comparison. So a
 * change of such a key, its removal included, is written by hand too.
 */
async function handMadeKeys(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.run({ text: 'SELECT conname::text FROM pg_constraint WHERE confdelsetcols IS NOT NULL' })
  return new Set(rows.map((row) => row.conname))
}

/** Of the engine's script, one paragraph a statement, what is not about one of these constraints. */
function withoutHandMade(script: string, names: ReadonlySet<string>): string {
  const statements = script.split(/\n\n+/).filter((paragraph) => {
    const sql = paragraph.replace(/^--.*$/gm, '').trim()
    const [, name] = /^ALTER TABLE "[^"]+" (?:ADD|DROP) CONSTRAINT "([^"]+)"/.exec(sql) ?? []
    return sql !== '' && (name === undefined || !names.has(name))
  })
  return statements.map((paragraph) => `${paragraph.trim()}\n`).join('\n')
}

/** Not among Node's types. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ instance: { exports: Record<string, unknown> & { __wbindgen_start?: () => void } } }>
}

/** Once only: a second instance would be given the first one's memory. */
let loaded: Promise<EngineModule> | undefined

/** Prisma's schema engine as WebAssembly. The package's own entry is made for bundlers; Node needs it instantiated by hand. */
async function loadEngine(): Promise<EngineModule> {
  const entry = '@prisma/schema-engine-wasm/schema_engine_bg'
  const glue = (await import(entry)) as EngineModule & { __wbg_set_wasm(exports: object): void }
  const bytes = readFileSync(fileURLToPath(import.meta.resolve(entry)).replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue } })
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start?.()
  return glue
}
