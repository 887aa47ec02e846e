import { figure } from '../progress.ts'
import { files, type Sums } from './copy.ts'
import type { Passes } from './passes.ts'

/** Names per line. */
const SHOWN_MAX = 20

/**
 * Returns the result of a run as lines, and whether everything was copied. `sums`: null where the run copied nothing. `path` returns the
 * path of a file of the copy.
 */
export function resultLines(
  { copy, unavailable, incomplete, again, missing, deleted }: Passes,
  sums: Sums | null,
  path: (name: string) => string,
): { lines: string[]; isWell: boolean } {
  const { refused = 0, changedHere = 0, deletedHere = 0, worthALook = 0 } = sums ?? {}
  const lines = [
    ...(sums === null ? [] : [sumsLine(sums, { missing, deleted })]),
    ...Array.from(unavailable, ([service, reason]) => `${service} could not be read (${reason})`),
    ...Array.from(incomplete, ([service, reason]) => `${service}: ${reason}`),
    ...Array.from(again, ([service, ids]) => `${service}: record ${shown([...new Set(ids)])} came twice`),
    ...Array.from(missing, ([service, ids]) => `${service} missing there, and still here: ${shown(ids.map(String))}`),
    ...(refused > 0 ? [`Refused, with reasons, to repeat by npm run import: ${path(files.refused)}`] : []),
    ...(changedHere + deletedHere > 0 ? [`Left as they are here: ${path(files.changedHere)}`] : []),
    ...(worthALook > 0 ? [`Copied, and worth a look: ${path(files.worthALook)}`] : []),
    ...(copy.unknown.size > 0 ? [`Members that have no place here: ${shown([...copy.unknown])}`] : []),
  ]
  return { lines, isWell: refused + unavailable.size + incomplete.size === 0 }
}

function sumsLine(sums: Sums, { missing, deleted }: Pick<Passes, 'missing' | 'deleted'>): string {
  const always = [
    [sums.read, 'read'],
    [sums.written, 'written'],
    [sums.equal, 'equal already'],
  ] as const
  const perhaps = [
    [sums.changedHere, 'changed here'],
    [sums.deletedHere, 'deleted here'],
    [sums.refused, 'refused'],
    [sums.worthALook, 'worth a look'],
    [sums.passed, 'passed over (erased here)'],
    [[...missing.values()].reduce((sum, ids) => sum + ids.length, 0), 'missing there'],
    [deleted, 'deleted'],
  ] as const
  return [...always, ...perhaps.filter(([count]) => count > 0)]
    .map(([count, what]) => `${figure(count)} ${what}`)
    .join(', ')
}

function shown(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX
  return `${names.slice(0, SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
