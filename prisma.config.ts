import { defineConfig } from 'prisma/config'

/** The CLI serves `prisma generate` alone here; migrations run through `src/database/migrations.ts`. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(process.env.DATABASE_URL ? { datasource: { url: process.env.DATABASE_URL } } : {}),
})
