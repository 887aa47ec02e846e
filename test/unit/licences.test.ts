import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** All let a program that holds them be sold and kept closed; each wants its own text to go along, which node_modules has. */
const allowed: Readonly<Record<string, string>> = {
  MIT: 'any use',
  'MIT-0': 'as MIT, and its text need not go along',
  ISC: 'as MIT, in other words',
  '0BSD': 'as ISC, and its text need not go along',
  'BSD-3-Clause': 'any use, without the authors’ names in advertisements',
  'Apache-2.0': 'any use, with a grant of patents; changed files say that they are changed',
  '(MIT OR Apache-2.0)': 'either, as the user likes',
  'LGPL-3.0-or-later':
    'any use, as a library of its own that users may replace: libvips, which sharp loads (docs/decisions/dependencies.md)',
  'Apache-2.0 AND LGPL-3.0-or-later': 'both, as above',
  'Apache-2.0 AND LGPL-3.0-or-later AND MIT': 'all three, as above',
  'BlueOak-1.0.0': 'any use, with a grant of patents',
  'Artistic-2.0': 'any use, as part of a program that does not offer its functions as such',
}

/** Whose licence the lock file does not know. */
const stated: Readonly<Record<string, string>> = {
  'node_modules/cldrjs': 'MIT',
  'node_modules/httpntlm': 'MIT',
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly license?: string; readonly dev?: boolean; readonly link?: true }>
  >
}

const isOwn = (path: string) => path === '' || path.startsWith('stubs/')

test('every package of production has a licence that allows commercial use', () => {
  const { packages }: Lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))
  const production = Object.entries(packages).filter(([path, { dev, link }]) => !isOwn(path) && !dev && !link)
  expect(production.length).toBeGreaterThan(100)
  const others = production.filter(([path, { license = stated[path] ?? '' }]) => !Object.hasOwn(allowed, license))
  expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
})
