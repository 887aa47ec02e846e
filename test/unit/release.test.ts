import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { restoreVersion, sectionOf, setVersion } from '../../tools/release/version.ts'
import { folderOfTest } from '../support/folders.ts'

const project = join(import.meta.dirname, '../..')
const carriers = ['package.json', 'package-lock.json', 'Dockerfile', 'docker-compose.yml', 'compose.cluster.yml']
const changelog =
  '# Changelog\n\n## Unreleased\n\n- **New**\n\n### Merchants\n\n- Words\n\n## 0.1.0 (2026-01-02)\n\n- Old\n'

let root: string
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
const commit = () =>
  git('-c', 'user.name=a', '-c', 'user.email=a@shop.example', 'commit', '--quiet', '--all', '-m', 'a')

beforeEach(() => {
  root = folderOfTest()
  for (const name of [...carriers, 'clients/typescript/package.json']) cpSync(join(project, name), join(root, name))
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '.')
  commit()
})

/** Each place of the version: line by line what a search for it finds, and what the lock says of the project itself. */
function versionsIn(folder: string): string[] {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const lock = JSON.parse(read('package-lock.json'))
  const packages = ['package.json', 'clients/typescript/package.json'].map((name) => JSON.parse(read(name)).version)
  const images = carriers
    .slice(2)
    .flatMap((name) => read(name).match(/(?<=localhost\/.*:|image\.version=").*?(?="|$)/gm))
  return [lock.version, lock.packages[''].version, ...packages, ...images].map(String)
}

test('a release sets the version everywhere, dates the changelog and has its section as notes; taken back, nothing is left of it', () => {
  const present = versionsIn(project)
  expect(present).toHaveLength(7)
  expect(new Set(present).size).toBe(1)
  setVersion(root, '10.2.3', '2030-04-05')
  expect(versionsIn(root)).toEqual(Array(7).fill('10.2.3'))
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toBe(changelog.replace('Unreleased', '10.2.3 (2030-04-05)'))
  expect(sectionOf(root, '10.2.3 ')).toBe('- **New**\n\n### Merchants\n\n- Words')
  expect(git('status', '--porcelain').trim().split('\n')).toHaveLength(7)
  restoreVersion(root)
  expect(git('status', '--porcelain')).toBe('')
})

test('it refuses, with every reason, a tree that is not ready, and leaves it as it is', () => {
  expect(() => setVersion(root, 'next', '')).toThrow(/three numbers/)
  writeFileSync(join(root, 'CHANGELOG.md'), changelog.replace(/- \*\*New.*(?=## 0)/s, ''))
  git('tag', 'v0.1.0')
  git('switch', '--quiet', '--create', 'other')
  const reasons =
    /not above .*\n.* other, and not main.*\n.*not committed.*\nThe tag v0\.1\.0 .*\n.*nothing under Unreleased/
  expect(() => setVersion(root, '0.1.0', '')).toThrow(reasons)
  expect(git('status', '--porcelain')).toBe(' M CHANGELOG.md\n')
})
