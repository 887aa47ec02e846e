import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAtMost } from '../../src/foundation/database/migration.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'

/** Packages that npm gives the version; `/openapi.json`, the log and `/metrics` read it out of the first. */
const packages = ['.', 'clients/typescript']
/** Files that name the image or are it, and what stands before the version there. */
const imageFiles = ['Dockerfile', 'docker-compose.yml', 'compose.cluster.yml']
const IMAGE = /(localhost\/store-platform:|\.image\.version=")[\d.]+/g
const UNRELEASED = '## Unreleased\n'

/**
 * Sets the version wherever it stands, and turns what the changelog has as unreleased into a section of this version. Throws
 * `StartupError`, before it changes anything, where the tree in `root` is not ready.
 */
export function setVersion(root: string, version: string, day: string): void {
  const faults = faultsOf(root, version)
  if (faults.length > 0) throw new StartupError(`This cannot be version ${version}:\n${faults.join('\n')}`)
  for (const name of packages) {
    execFileSync('npm', ['version', version, '--no-git-tag-version'], { cwd: join(root, name), stdio: 'pipe' })
  }
  for (const name of imageFiles) change(join(root, name), (text) => text.replace(IMAGE, `$1${version}`))
  change(join(root, 'CHANGELOG.md'), (text) => text.replace(UNRELEASED, `## ${version} (${day})\n`))
}

/** Takes back what `setVersion` has changed. */
export function restoreVersion(root: string): void {
  const lock = ['package-lock.json', 'CHANGELOG.md', ...imageFiles]
  git(root, 'restore', '--', ...lock, ...packages.map((name) => join(name, 'package.json')))
}

/** The changelog's section below a heading that begins like this, without the heading; empty where there is none. */
export function sectionOf(root: string, heading: string): string {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const [section = ''] = sections.filter((text) => text.startsWith(heading))
  return section.slice(section.indexOf('\n') + 1).trim()
}

function faultsOf(root: string, version: string): string[] {
  const { version: present } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const faults: string[] = []
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push('A version is three numbers, such as 0.4.0.')
  else if (isAtMost(version, present)) faults.push(`It is not above ${present}, which this is.`)
  const branch = git(root, 'branch', '--show-current')
  if (branch !== 'main') faults.push(`The branch is ${branch || 'none'}, and not main.`)
  if (git(root, 'status', '--porcelain') !== '') faults.push('There are changes that are not committed: git status')
  if (git(root, 'tag', '--list', `v${version}`) !== '') faults.push(`The tag v${version} is there already.`)
  if (sectionOf(root, 'Unreleased') === '') faults.push('CHANGELOG.md has nothing under Unreleased.')
  return faults
}

function change(file: string, by: (text: string) => string): void {
  writeFileSync(file, by(readFileSync(file, 'utf8')))
}

function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
