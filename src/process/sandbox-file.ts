import { join } from 'node:path'
import { z } from 'zod'
import { readIfThere, writeSecretFile } from './secret-file.ts'

/** The shape that scripts rely on (contract §10.2). */
const SandboxFile = z.object({
  baseUrl: z.string(),
  operatorKey: z.string(),
  store: z.object({
    id: z.number(),
    secureUrl: z.string(),
    email: z.string(),
    password: z.string(),
    userKey: z.string(),
  }),
  developer: z.object({ email: z.string(), password: z.string() }),
  application: z.object({ publicKey: z.string(), privateKey: z.string(), token: z.string() }),
})

export type SandboxFile = z.infer<typeof SandboxFile>

export function sandboxPath(dataDir: string): string {
  return join(dataDir, 'sandbox.json')
}

/** Null: there is none, or somebody has damaged it. */
export async function readSandboxFile(dataDir: string): Promise<SandboxFile | null> {
  const text = await readIfThere(sandboxPath(dataDir))
  if (text === null) return null
  try {
    return SandboxFile.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** Mode 600; whole or not at all. */
export function writeSandboxFile(dataDir: string, content: SandboxFile): Promise<void> {
  return writeSecretFile(sandboxPath(dataDir), content)
}
