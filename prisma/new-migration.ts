import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../src/foundation/database/migrations.ts'
import { startEmbedded } from '../src/foundation/embedded/embedded.ts'
import { prismaFolder, schemaDiff } from './schema-engine.ts'

// `npm run migration -- NAME` writes the client of schema.prisma, and the migration that brings the database from the migrations
// so far to it. Read the migration before it is committed, and add what the schema language cannot say: see the end of the first one.
const given = process.argv[2]?.trim() ?? ''
const name = given.toLowerCase().replace(/\W+/g, '_')
// An option such as --help is no name.
if (name === '' || given.startsWith('-')) {
  console.error('A new migration needs a name: npm run migration -- NAME')
  process.exitCode = 1
} else if (spawnSync('npm', ['run', '--silent', 'generate'], { cwd: prismaFolder, stdio: 'inherit' }).status !== 0) {
  // Prisma, or the shell, has said why.
  process.exitCode = 1
} else {
  await writeMigration(name)
}

async function writeMigration(name: string): Promise<void> {
  const sql = await difference()
  if (sql === '') {
    console.log('No change: the migrations and schema.prisma agree.')
    return
  }
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 'YYYYMMDDhhmmss'.length)
  const folder = join(prismaFolder, 'migrations', `${time}_${name}`)
  await mkdir(folder)
  await writeFile(join(folder, 'migration.sql'), sql)
  console.log(`${join(folder, 'migration.sql')}\n\n${sql}`)
}

/** Found on a database of its own that has all migrations, on a server that lives for this alone. */
async function difference(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'store-platform-migration-'))
  try {
    const { url, stop } = await startEmbedded({ dataDir, durable: false })
    try {
      await migrate(url)
      return await schemaDiff(url)
    } finally {
      await stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
