import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import pg from 'pg'

type Engine = typeof import('@prisma/schema-engine-wasm')

const folder = fileURLToPath(new URL('.', import.meta.url))

/** The SQL that would bring the database at `url` to what schema.prisma says; empty when it is that already. */
export async function schemaDiff(url: string): Promise<string> {
  const { SchemaEngine } = await loadEngine()
  const files = [{ path: 'schema.prisma', content: readFileSync(`${folder}/schema.prisma`, 'utf8') }]
  const engine = await SchemaEngine.new(
    { datamodels: files.map(({ path, content }) => [path, content]) },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new PrismaPg(new CatalogPool({ connectionString: url }))),
  )
  const { stdout } = await engine.diff({
    from: { tag: 'schemaDatasource', files, configDir: folder },
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  })
  return stdout ?? ''
}

const CHAR = 18
const TEXT = 25

/** The engine reads the catalog's one-letter type, which the adapter refuses; to both of them it is text all the same. */
class CatalogPool extends pg.Pool {
  override async query(...args) {
    const result = await super.query(...args)
    for (const field of result.fields) if (field.dataTypeID === CHAR) field.dataTypeID = TEXT
    return result
  }
}

/** Prisma's schema engine as WebAssembly. The package's own entry is made for bundlers; Node needs it instantiated by hand. */
async function loadEngine(): Promise<Engine> {
  const entry = '@prisma/schema-engine-wasm/schema_engine_bg'
  const glue = (await import(entry)) as Engine & { __wbg_set_wasm(exports: WebAssembly.Exports): void }
  const bytes = readFileSync(fileURLToPath(import.meta.resolve(entry)).replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue } })
  glue.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as (() => void) | undefined)?.()
  return glue
}
