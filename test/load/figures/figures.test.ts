import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { cloneDatabase } from '../../support/database.ts'
import { figureFaults } from '../../support/figures.ts'
import { freePort, programEnv, serverKeys } from '../../support/run-server.ts'

test('a request runs no more files and lines than test/figures.txt allows', async () => {
  const { url, drop } = await cloneDatabase()
  const program = fileURLToPath(new URL('./functions-run.ts', import.meta.url))
  const env = {
    ...programEnv,
    PORT: String(await freePort()),
    DATABASE_URL: url,
    ...serverKeys,
    LOG_LEVEL: 'error',
    OUTBOUND_ALLOW: '127.0.0.0/8',
  }
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env }).finally(drop)
  const measured = Object.entries<{ files: number; lines: number }>(JSON.parse(stdout.slice(stdout.indexOf('\n{'))))
  const figures = measured.flatMap(([name, { files, lines }]) => [
    [`${name}: files`, files] as const,
    [`${name}: lines`, lines] as const,
  ])

  expect(figures).toHaveLength(12)
  expect(figureFaults(new Map(figures), (name) => /: (files|lines)$/.test(name))).toEqual([])
})
