import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Differences of one file that are shown. */
const SHOWN_MAX = 5

/** Says which answers differ between two folders; returns the exit status. */
export async function compare(one: string, other: string): Promise<number> {
  const files = [...new Set([...(await filesOf(one)), ...(await filesOf(other))])].sort()
  let count = 0
  for (const file of files) {
    const [before, after] = await Promise.all([answersIn(join(one, file)), answersIn(join(other, file))])
    const names = [...new Set([...before.keys(), ...after.keys()])].filter(
      (name) => before.get(name) !== after.get(name),
    )
    if (names.length > 0) console.log(`${file}: ${names.length} answers differ`)
    for (const name of names.slice(0, SHOWN_MAX))
      console.log(`  ${name}\n${firstChange(before.get(name), after.get(name))}`)
    count += names.length
  }
  console.log(count === 0 ? `No difference in ${files.length} files` : `${count} answers differ`)
  return count === 0 ? 0 : 1
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
}

/** The answers of a file by what was asked; what is asked again is counted. */
async function answersIn(path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const answers = new Map<string, string>()
  for (const part of text.split(/^=== /m).slice(1)) {
    const [title = ''] = part.split('\n', 1)
    let name = title
    for (let again = 2; answers.has(name); again++) name = `${title} (${again})`
    answers.set(name, part.slice(title.length + 1))
  }
  return answers
}

function firstChange(before: string | undefined, after: string | undefined): string {
  if (before === undefined) return '    is new'
  if (after === undefined) return '    is missing'
  const [left, right] = [before.split('\n'), after.split('\n')]
  const at = left.findIndex((line, index) => line !== right[index])
  return `    - ${left[at] ?? '(nothing)'}\n    + ${right[at === -1 ? left.length : at] ?? '(nothing)'}`
}
