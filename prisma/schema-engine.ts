import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import type { SchemaEngine } from '@prisma/schema-engine-wasm'
import pg from 'pg'

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

async function withEngine<T>(url: string, work: (engine: SchemaEngine, pool: pg.Pool) => Promise<T>): Promise<T> {
  loaded ??= loadEngine()
  const { SchemaEngine } = await loaded
  const pool = catalogPool(url)
  const { path, content } = schemaFile()
  const adapter = bindMigrationAwareSqlAdapterFactory(new CatalogPrismaPg(pool))
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
async function handMadeKeys(pool: pg.Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ conname: string }>(
    'SELECT conname::text FROM pg_constraint WHERE confdelsetcols IS NOT NULL',
  )
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

/** Types of PostgreSQL by number: the catalog's one-letter type, which the adapter refuses, and one that it takes. */
const CHAR = 18
const CHAR_ARRAY = 1002

/** Lets the adapter read the catalog: the letters come out of it as lists of letters, which `CatalogPrismaPg` mends. */
function catalogPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url })
  const query = pool.query.bind(pool) as (config: pg.QueryConfig) => Promise<pg.QueryResult>
  const readingLetters = async (config: pg.QueryConfig) => {
    const result = await query(config)
    for (const field of result.fields) if (field.dataTypeID === CHAR) field.dataTypeID = CHAR_ARRAY
    return result
  }
  return Object.assign(pool, { query: readingLetters })
}

class CatalogPrismaPg extends PrismaPg {
  override async connect() {
    const adapter = await super.connect()
    const queryRaw = adapter.queryRaw.bind(adapter)
    adapter.queryRaw = async (query) => {
      const { columnNames, columnTypes, rows } = await queryRaw(query)
      const { Character, CharacterArray } = ColumnTypeEnum
      return { columnNames, columnTypes: columnTypes.map((t) => (t === CharacterArray ? Character : t)), rows }
    }
    return adapter
  }
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
