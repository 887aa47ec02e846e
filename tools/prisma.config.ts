import { defineConfig } from 'prisma/config'

// These commands ask for Prisma's native engine, which npm does not carry, and never start it: any program will do. The others
// must not be given one, because they would wait for it forever.
if (['format', 'generate', 'validate'].includes(process.argv[2] ?? '')) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath
}

export default defineConfig({
  schema: '../prisma/schema.prisma',
  migrations: { path: '../prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
})
