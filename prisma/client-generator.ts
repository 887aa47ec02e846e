import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Where the server imports the client from. */
export const clientFolder = fileURLToPath(new URL('../src/database/generated', import.meta.url))

/**
 * Writes the client of schema.prisma into `folder` in place of what is there, byte for byte as `prisma generate` does. Rejects
 * with Prisma's report of what is wrong in the schema.
 */
export async function generateClient(folder: string): Promise<void> {
  // Node finds no module behind the import of Prisma's packages.
  const require = createRequire(import.meta.url)
  const { getGenerators, loadSchemaContext }: typeof import('@prisma/internals') = require('@prisma/internals')
  const { PrismaClientTsGenerator }: typeof import('@prisma/client-generator-ts') =
    require('@prisma/client-generator-ts')

  const path = fileURLToPath(new URL('schema.prisma', import.meta.url))
  const schemaContext = await loadSchemaContext({ schemaPath: { cliProvidedPath: path }, printLoadMessage: false })
  const generators = await getGenerators({
    schemaContext,
    registry: { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } },
    overrideGenerators: schemaContext.generators.map((generator) => ({
      ...generator,
      output: { fromEnvVar: null, value: folder },
    })),
    skipDownload: true,
    cliCommand: 'generate',
  })
  await rm(folder, { recursive: true, force: true })
  for (const generator of generators) {
    await generator.generate()
    generator.stop()
  }
}
