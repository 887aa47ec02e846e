import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { figureFaults } from '../support/figures.ts'
import { functionLengths } from '../support/function-lengths.ts'

const root = join(import.meta.dirname, '../..')
const FILE_LINES = 400
const FUNCTION_LINES = 50

test('sources, files and functions are no longer than test/figures.txt allows', () => {
  const files = globSync('{src,test,tools}/**/*.{ts,js}', { cwd: root })
    .filter((file) => !/^src\/foundation\/database\/generated\/|\/node_modules\//.test(file))
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
  const sources = files.filter(({ file }) => file.startsWith('src/'))
  const figures = new Map<string, number>()
  for (const { file, lines } of files) {
    const name = `lines of ${houseOf(file)}`
    figures.set(name, (figures.get(name) ?? 0) + lines)
  }
  figures.set(`files above ${FILE_LINES} lines`, sources.filter(({ lines }) => lines > FILE_LINES).length)
  const lengths = functionLengths(sources.map(({ file }) => file))
  figures.set(`functions above ${FUNCTION_LINES} lines`, lengths.filter((lines) => lines > FUNCTION_LINES).length)

  expect(lengths.length).toBeGreaterThan(1_000)
  expect(figureFaults(figures, (name) => /^(lines of (src|test|tools)|files|functions)\b/.test(name))).toEqual([])
})

/** `src/http` of a file in it, `src` of the entry, `test`, `tools`. */
function houseOf(file: string): string {
  const [top = '', house = '', room] = file.split('/')
  return top !== 'src' || room === undefined || ['cli', 'parts'].includes(house) ? top : `${top}/${house}`
}
