import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Installs a server's client into a new folder, with a cache of its own: a kept package would not be asked for. */
export async function installClient(origin: string, folder: string): Promise<void> {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  const quiet = ['--no-audit', '--no-fund', '--silent', '--cache', join(folder, '.cache')]
  await run('npm', ['install', ...quiet, `${origin}/docs/client.tgz`], { cwd: folder })
  await symlink(join(modules, '@types'), join(folder, 'node_modules', '@types'))
}

/** Compiles a program beside the client as strictly as the compiler can. Throws what it says. */
export async function compileBeside(folder: string, program: string): Promise<void> {
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [program] }))
  await run(join(modules, '.bin', 'tsc'), ['-p', folder]).catch(({ stdout }) => {
    throw new Error(stdout)
  })
}
