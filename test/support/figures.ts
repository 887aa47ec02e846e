import { readFileSync } from 'node:fs'

const file = new URL('../figures.txt', import.meta.url)

/** A figure below its ceiling by more than this share asks for a lower one. */
const SLACK = 0.01

/**
 * Returns what is wrong with figures, by the ceilings of `test/figures.txt`: one above its ceiling, one so far below that the
 * ceiling is to fall with it, and names that are on one side alone. `isOurs` chooses the ceilings that the figures are compared with.
 */
export function figureFaults(figures: ReadonlyMap<string, number>, isOurs: (name: string) => boolean): string[] {
  const ceilings = readCeilings()
  const names = new Set([...[...ceilings.keys()].filter(isOurs), ...figures.keys()])
  return [...names].flatMap((name) => {
    const [figure, ceiling] = [figures.get(name), ceilings.get(name)]
    if (figure === undefined) return [`${name}: nobody measures it`]
    if (ceiling === undefined) return [`${name}: ${figure}, which has no ceiling`]
    if (figure > ceiling) return [`${name}: ${figure}, above its ceiling of ${ceiling}`]
    return figure < ceiling * (1 - SLACK) ? [`${name}: lower its ceiling of ${ceiling} to ${figure}`] : []
  })
}

function readCeilings(): Map<string, number> {
  const lines = readFileSync(file, 'utf8').split('\n')
  return new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name, ceiling] = /^(.+?): (\d+), \d{4}-\d\d-\d\d, .+$/.exec(line) ?? []
        if (name === undefined) throw new Error(`test/figures.txt: not a ceiling: ${line}`)
        return [name, Number(ceiling)]
      }),
  )
}
